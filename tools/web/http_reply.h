// A handler's way back to the client that asked. It may outlive connection and server, and is called
// on any thread; what it was told arrives on the server's.
#pragma once

#include "tools/web/http_shared.h"

namespace engram {

// What the server answers by itself, as {"error": why, "code": status}.
struct HttpRefusal {
  int status = 0;  // 0: not refused
  std::string why;
  std::map<std::string, std::string> headers;
};
HttpResponse refusal_response(const HttpRefusal& refusal);

// A connection, as a reply sees it. `turn`: which of its requests is answered.
class HttpTurns {
 public:
  virtual ~HttpTurns() = default;
  virtual void answer(int turn, HttpResponse response) = 0;
  virtual void stream(int turn, HttpStream stream) = 0;
};

std::shared_ptr<HttpReply> make_http_reply(std::shared_ptr<HttpMailbox> mailbox,
                                           std::weak_ptr<HttpTurns> connection, int turn);

}  // namespace engram
