#include <netinet/tcp.h>

#include <array>

#include "tools/web/http_connection.h"
#include "tools/web/lazy_memory.h"

namespace engram {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFarewell = 16 * 1024 * 1024;  // read after an answer that closes, at most
constexpr std::chrono::milliseconds kFarewellTime{1000};

// Who is not let in keeps no connection either.
bool says_no(int status) {
  return status == 401 || status == 403 || status == 421 || status == 429;
}

}  // namespace

void HttpConnection::answer(int turn, HttpResponse response) {
  if (!waiting_ || turn != turn_) return;
  respond(std::move(response));
}

void HttpConnection::respond(HttpResponse response) {
  waiting_ = false;
  timer_.cancel();
  drop_request();
  if (says_no(response.status)) keep_alive_ = false;
  if (!has_body(response.status)) response.body.clear();
  std::string head = response_head(response.status, response.type, response.body.size(),
                                   keep_alive_, response.headers, shared_.options.headers);
  if (only_head_) response.body.clear();
  send(std::move(head), std::move(response.body), &HttpConnection::on_answered);
}

void HttpConnection::on_answered() {
  if (keep_alive_) return wait_for_request();
  say_goodbye();
}

void HttpConnection::send(std::string head, std::string body, void (HttpConnection::*then)()) {
  head_ = std::move(head);
  body_ = std::move(body);
  sent_ = 0;
  then_ = then;
  write_some();
}

void HttpConnection::write_some() {
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
                          release(self->head_);
                          release(self->body_);
                          ((*self).*(self->then_))();
                        });
}

// ---- streams ----------------------------------------------------------------------------------

void HttpConnection::stream(int turn, HttpStream stream) {
  if (!waiting_ || turn != turn_) return;
  waiting_ = keep_alive_ = false;
  timer_.cancel();
  drop_request();
  stream_ = std::move(stream);
  stream_.period = std::max(stream_.period, std::chrono::milliseconds(1));
  send(response_head(200, stream_.type, std::nullopt, false, stream_.headers,
                     shared_.options.headers),
       {}, only_head_ ? &HttpConnection::say_goodbye : &HttpConnection::begin_stream);
}

void HttpConnection::begin_stream() {
#ifdef TCP_NOTSENT_LOWAT
  // Pictures that wait in the system's buffer would be old when they are shown.
  const int most_unsent = 16 * 1024;
  ::setsockopt(tcp_.socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most_unsent,
               sizeof most_unsent);
#endif
  watch_for_goodbye();
  next_piece();
}

void HttpConnection::next_piece() {
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
  send({}, std::move(*piece), &HttpConnection::pause_stream);
}

void HttpConnection::pause_stream() {
  tcp_.expires_never();
  timer_.expires_at(pulled_at_ + stream_.period);
  timer_.async_wait([self = shared_from_this()](const error_code& error) {
    if (!error) self->next_piece();
  });
}

// A client that leaves while there is nothing to send would not be noticed otherwise.
void HttpConnection::watch_for_goodbye() {
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
void HttpConnection::say_goodbye() {
  stream_ = {};
  error_code ignored;
  tcp_.socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
  tcp_.expires_after(kFarewellTime);
  if (!piece_) piece_ = std::make_unique<char[]>(kHttpPiece);
  drain(kFarewell);
}

void HttpConnection::drain(std::size_t left) {
  tcp_.async_read_some(
      net::buffer(piece_.get(), kHttpPiece),
      [self = shared_from_this(), left](const error_code& error, std::size_t count) {
        if (error || count >= left) return self->cut();
        self->drain(left - count);
      });
}

void HttpConnection::drop_request() {
  shared_.buffered -= claimed_;
  claimed_ = 0;
  release(request_.body);
}

void HttpConnection::cut() {
  timer_.cancel();
  stream_ = {};
  error_code ignored;
  tcp_.socket().close(ignored);
}

}  // namespace engram
