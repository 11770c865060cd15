#include "tools/web/http_reply.h"

#include <nlohmann/json.hpp>

namespace engram {
namespace {

class Reply final : public HttpReply {
 public:
  Reply(std::shared_ptr<HttpMailbox> mailbox, std::weak_ptr<HttpTurns> connection, int turn)
      : mailbox_(std::move(mailbox)), connection_(std::move(connection)), turn_(turn) {}

  ~Reply() override {
    try {
      answer(refusal_response({500, "The request was not answered.", {}}));
    } catch (...) {
      // The client hears 504 later.
    }
  }

  void answer(HttpResponse response) override {
    post([turn = turn_, response = std::move(response)](HttpTurns& connection) mutable {
      connection.answer(turn, std::move(response));
    });
  }

  void stream(HttpStream stream) override {
    post([turn = turn_, stream = std::move(stream)](HttpTurns& connection) mutable {
      connection.stream(turn, std::move(stream));
    });
  }

 private:
  template <class Action>
  void post(Action action) {
    if (given_.exchange(true)) return;
    // The connection is touched on its own thread alone: nobody else may come to own it.
    mailbox_->post([connection = connection_, action = std::move(action)]() mutable {
      if (const auto alive = connection.lock()) action(*alive);
    });
  }

  std::shared_ptr<HttpMailbox> mailbox_;
  std::weak_ptr<HttpTurns> connection_;
  int turn_;
  std::atomic<bool> given_{false};
};

}  // namespace

HttpResponse refusal_response(const HttpRefusal& refusal) {
  const nlohmann::ordered_json body = {{"error", refusal.why}, {"code", refusal.status}};
  return {refusal.status, "application/json", body.dump() + "\n", refusal.headers};
}

std::shared_ptr<HttpReply> make_http_reply(std::shared_ptr<HttpMailbox> mailbox,
                                           std::weak_ptr<HttpTurns> connection, int turn) {
  return std::make_shared<Reply>(std::move(mailbox), std::move(connection), turn);
}

}  // namespace engram
