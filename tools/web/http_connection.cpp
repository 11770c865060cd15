#include "tools/web/http_connection.h"

#include <netinet/tcp.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include "tools/web/http_head.h"

namespace engram {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiece = 16 * 1024;          // of a body, by one read
constexpr std::size_t kMegabyte = 1024 * 1024;     // of a body, within `patience`
constexpr std::size_t kFarewell = 16 * kMegabyte;  // read after an answer that closes
constexpr std::chrono::milliseconds kFarewellTime{1000};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

class Connection;

// A handler's way back. It may outlive connection and server, and is called on any thread.
class Reply final : public HttpReply {
 public:
  Reply(std::shared_ptr<HttpMailbox> mailbox, std::weak_ptr<Connection> connection, int turn)
      : mailbox_(std::move(mailbox)), connection_(std::move(connection)), turn_(turn) {}
  ~Reply() override;
  void answer(HttpResponse response) override;
  void stream(HttpStream stream) override;

 private:
  template <class Action>
  void post(Action action);

  std::shared_ptr<HttpMailbox> mailbox_;
  std::weak_ptr<Connection> connection_;
  int turn_;
  std::atomic<bool> given_{false};
};

// Alive as long as something of it waits in the io_context.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpShared& shared, net::ip::tcp::socket socket, bool welcome);
  ~Connection();
  void start();
  void answer(int turn, HttpResponse response);
  void stream(int turn, HttpStream stream);

 private:
  void wait_for_request();
  void read_header();
  void on_header(const error_code& error);
  void read_body();
  void on_body(const error_code& error);
  void on_bad_request(const error_code& error);
  void refuse(const HttpRefusal& refusal);
  void dispatch();
  void respond(HttpResponse response);
  void send(std::string head, std::string body, void (Connection::*then)());
  void write_some();
  void on_answered();
  void begin_stream();
  void next_piece();
  void pause_stream();
  void watch_for_goodbye();
  void say_goodbye();
  void drain(std::size_t left);
  void drop_request();
  void cut();

  HttpShared& shared_;
  beast::tcp_stream tcp_;
  net::steady_timer timer_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::buffer_body>> parser_;
  HttpRequest request_;
  std::size_t claimed_ = 0;  // of shared_.buffered
  std::unique_ptr<char[]> piece_;
  std::string head_, body_;  // being sent
  std::size_t sent_ = 0;
  void (Connection::*then_)() = nullptr;
  HttpStream stream_;
  Clock::time_point pulled_at_;
  int turn_ = 0;          // counts requests, so that a late answer does not meet the next one
  bool waiting_ = false;  // for the handler's answer
  bool welcome_;          // not one too many
  bool used_ = false;     // this is not the first request
  bool keep_alive_ = false;
  bool only_head_ = false;
};

// ---- Reply ------------------------------------------------------------------------------------

template <class Action>
void Reply::post(Action action) {
  if (given_.exchange(true)) return;
  // The connection is touched on its own thread alone: nobody else may come to own it.
  mailbox_->post([connection = connection_, action = std::move(action)]() mutable {
    if (const auto alive = connection.lock()) action(*alive);
  });
}

void Reply::answer(HttpResponse response) {
  post([turn = turn_, response = std::move(response)](Connection& connection) mutable {
    connection.answer(turn, std::move(response));
  });
}

void Reply::stream(HttpStream stream) {
  post([turn = turn_, stream = std::move(stream)](Connection& connection) mutable {
    connection.stream(turn, std::move(stream));
  });
}

Reply::~Reply() {
  try {
    answer(refusal_response({500, "The request was not answered.", {}}));
  } catch (...) {
    // The client hears 504 later.
  }
}

// ---- reading ----------------------------------------------------------------------------------

Connection::Connection(HttpShared& shared, net::ip::tcp::socket socket, bool welcome)
    : shared_(shared),
      tcp_(std::move(socket)),
      timer_(tcp_.get_executor()),
      buffer_(2 * shared.options.most_header),
      welcome_(welcome) {
  shared_.connections += welcome_;
  shared_.leaving += !welcome_;
}

Connection::~Connection() {
  drop_request();
  shared_.connections -= welcome_;
  shared_.leaving -= !welcome_;
}

void Connection::start() {
  error_code ignored;
  tcp_.socket().set_option(net::ip::tcp::no_delay(true), ignored);
  if (welcome_) return wait_for_request();
  refuse({503, "Too many connections. Close a page, then try again.", {{"Retry-After", "5"}}});
}

void Connection::wait_for_request() {
  if (buffer_.size() > 0) return read_header();
  tcp_.expires_after(used_ ? shared_.options.idle : shared_.options.patience);
  tcp_.async_read_some(buffer_.prepare(2048),
                       [self = shared_from_this()](const error_code& error, std::size_t count) {
                         if (error) return;
                         self->buffer_.commit(count);
                         self->read_header();
                       });
}

void Connection::read_header() {
  used_ = true;
  request_ = {};
  only_head_ = keep_alive_ = false;
  parser_.emplace();
  parser_->header_limit(std::uint32_t(shared_.options.most_header));
  parser_->body_limit(shared_.options.most_body);
  tcp_.expires_after(shared_.options.patience);
  http::async_read_header(tcp_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            self->on_header(error);
                          });
}

void Connection::on_header(const error_code& error) {
  if (error) return on_bad_request(error);
  // Taken before the body: what a chunked body has after its end must not count as header.
  if (const HttpRefusal refusal =
          read_head(parser_->get().base(), shared_.options.most_header, request_);
      refusal.status != 0) {
    return refuse(refusal);
  }
  error_code gone;
  const net::ip::address from = tcp_.socket().remote_endpoint(gone).address();
  request_.from_loopback =
      from.is_loopback() ||
      (from.is_v6() && from.to_v6().is_v4_mapped() &&
       net::ip::make_address_v4(net::ip::v4_mapped, from.to_v6()).is_loopback());
  only_head_ = parser_->get().method() == http::verb::head;
  if (parser_->is_done()) return dispatch();
  // Room for all of it at once: memory that nobody has written to costs nothing yet.
  const auto length = parser_->content_length();
  request_.body.reserve(length ? std::size_t(*length) : shared_.options.most_body);
  if (!piece_) piece_ = std::make_unique<char[]>(kPiece);
  if (expects_continue(request_)) {
    send(std::string(kContinue), {}, &Connection::read_body);
  } else {
    read_body();
  }
}

void Connection::read_body() {
  parser_->get().body() = {piece_.get(), kPiece, true};
  http::async_read(
      tcp_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, std::size_t) { self->on_body(error); });
}

void Connection::on_body(const error_code& error) {
  if (error && error != http::error::need_buffer) return on_bad_request(error);
  const std::size_t count = kPiece - parser_->get().body().size;
  const std::size_t size = request_.body.size() + count;
  if (size > shared_.options.most_body) return on_bad_request(http::error::body_limit);
  if (shared_.buffered + count > shared_.options.most_buffered) {
    return refuse({503, "Too many large requests at once. Try again.", {{"Retry-After", "2"}}});
  }
  shared_.buffered += count;
  claimed_ += count;
  if (size / kMegabyte > request_.body.size() / kMegabyte) {
    tcp_.expires_after(shared_.options.patience);
  }
  request_.body.append(piece_.get(), count);
  if (parser_->is_done()) return dispatch();
  read_body();
}

void Connection::on_bad_request(const error_code& error) {
  if (error == http::error::body_limit) {
    return refuse({413, "The body is too large.", {}});
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refuse({431, "The header is too large.", {}});
  }
  if (error == http::error::bad_version)
    return refuse({505, "This server speaks HTTP/1.0 and HTTP/1.1.", {}});
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
  if (gone || error.category() != make_error_code(http::error::bad_method).category()) return;
  refuse({400, "The request is not well-formed HTTP.", {}});
}

// The rest of what the client sends is not read as a request: it could be anything.
void Connection::refuse(const HttpRefusal& refusal) {
  ++shared_.refused;
  keep_alive_ = false;
  respond(refusal_response(refusal));
}

// ---- answering --------------------------------------------------------------------------------

void Connection::dispatch() {
  ++shared_.requests;
  waiting_ = true;
  keep_alive_ = parser_->get().keep_alive();
  tcp_.expires_never();
  const int turn = ++turn_;
  timer_.expires_after(shared_.options.answer_within);
  timer_.async_wait([self = shared_from_this(), turn](const error_code& error) {
    if (!error) self->answer(turn, refusal_response({504, "The answer took too long.", {}}));
  });
  const auto reply = std::make_shared<Reply>(shared_.mailbox, weak_from_this(), turn);
  try {
    shared_.handler(request_, reply);
  } catch (...) {
    reply->answer(refusal_response({500, "The request could not be answered.", {}}));
  }
  // The memory goes, the claim stays: who answers later works on a copy.
  request_.body = {};
}

void Connection::answer(int turn, HttpResponse response) {
  if (!waiting_ || turn != turn_) return;
  respond(std::move(response));
}

void Connection::respond(HttpResponse response) {
  waiting_ = false;
  timer_.cancel();
  drop_request();
  if (!has_body(response.status)) response.body.clear();
  std::string head = response_head(response.status, response.type, response.body.size(),
                                   keep_alive_, response.headers, shared_.options.headers);
  if (only_head_) response.body.clear();
  send(std::move(head), std::move(response.body), &Connection::on_answered);
}

void Connection::on_answered() {
  if (keep_alive_) return wait_for_request();
  say_goodbye();
}

void Connection::send(std::string head, std::string body, void (Connection::*then)()) {
  head_ = std::move(head);
  body_ = std::move(body);
  sent_ = 0;
  then_ = then;
  write_some();
}

void Connection::write_some() {
  const std::size_t of_head = std::min(sent_, head_.size());
  const std::array<net::const_buffer, 2> rest = {net::buffer(head_) + of_head,
                                                 net::buffer(body_) + (sent_ - of_head)};
  tcp_.expires_after(shared_.options.patience);
  tcp_.async_write_some(rest,
                        [self = shared_from_this()](const error_code& error, std::size_t count) {
                          if (error) return self->cut();
                          self->sent_ += count;
                          if (self->sent_ < self->head_.size() + self->body_.size())
                            return self->write_some();
                          self->head_ = self->body_ = {};
                          ((*self).*(self->then_))();
                        });
}

// ---- streams ----------------------------------------------------------------------------------

void Connection::stream(int turn, HttpStream stream) {
  if (!waiting_ || turn != turn_) return;
  waiting_ = keep_alive_ = false;
  timer_.cancel();
  drop_request();
  stream_ = std::move(stream);
  stream_.period = std::max(stream_.period, std::chrono::milliseconds(1));
  send(response_head(200, stream_.type, std::nullopt, false, stream_.headers,
                     shared_.options.headers),
       {}, only_head_ ? &Connection::say_goodbye : &Connection::begin_stream);
}

void Connection::begin_stream() {
#ifdef TCP_NOTSENT_LOWAT
  // Pictures that wait in the system's buffer would be old when they are shown.
  const int most_unsent = 16 * 1024;
  ::setsockopt(tcp_.socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent,
               sizeof most_unsent);
#endif
  watch_for_goodbye();
  next_piece();
}

void Connection::next_piece() {
  if (!tcp_.socket().is_open()) return;
  tcp_.expires_never();
  pulled_at_ = Clock::now();
  std::optional<std::string> piece;
  try {
    piece = stream_.next();
  } catch (...) {
    // As if it had ended.
  }
  if (!piece) return say_goodbye();
  if (piece->empty()) return pause_stream();
  send({}, std::move(*piece), &Connection::pause_stream);
}

void Connection::pause_stream() {
  tcp_.expires_never();
  timer_.expires_at(pulled_at_ + stream_.period);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->next_piece();
  });
}

// A client that leaves while there is nothing to send would not be noticed otherwise.
void Connection::watch_for_goodbye() {
  tcp_.socket().async_wait(net::socket_base::wait_read,
                           [weak = weak_from_this()](const error_code& error) {
                             const auto self = weak.lock();
                             if (!self || error) return;
                             error_code failed;
                             const auto more = self->tcp_.socket().available(failed);
                             if (failed || more == 0) self->cut();
                           });
}

// ---- ending -----------------------------------------------------------------------------------

// Closing a socket with unread bytes in it makes the client's system throw the answer away: so the
// rest is read for a moment.
void Connection::say_goodbye() {
  stream_ = {};
  error_code ignored;
  tcp_.socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
  tcp_.expires_after(kFarewellTime);
  if (!piece_) piece_ = std::make_unique<char[]>(kPiece);
  drain(kFarewell);
}

void Connection::drain(std::size_t left) {
  tcp_.async_read_some(
      net::buffer(piece_.get(), kPiece),
      [self = shared_from_this(), left](const error_code& error, std::size_t count) {
        if (error || count >= left) return self->cut();
        self->drain(left - count);
      });
}

void Connection::drop_request() {
  shared_.buffered -= claimed_;
  claimed_ = 0;
  request_.body = {};
}

void Connection::cut() {
  timer_.cancel();
  stream_ = {};
  error_code ignored;
  tcp_.socket().close(ignored);
}

}  // namespace

void serve_connection(HttpShared& shared, net::ip::tcp::socket socket) {
  const bool welcome = shared.connections < shared.options.most_connections;
  if (!welcome && shared.leaving >= shared.options.most_connections) {
    ++shared.refused;
    return;
  }
  std::make_shared<Connection>(shared, std::move(socket), welcome)->start();
}

}  // namespace engram
