#include "tools/web/http_connection.h"

#include <boost/beast/http/read.hpp>

#include "tools/web/lazy_memory.h"

namespace engram {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kMegabyte = 1024 * 1024;  // of a body, within `patience`
constexpr std::size_t kSmallBody = 4096;        // an order: never kept out by others' large bodies
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpConnection::HttpConnection(HttpShared& shared, net::ip::tcp::socket socket,
                               net::ip::address peer, bool welcome)
    : shared_(shared),
      peer_(peer),
      tcp_(std::move(socket)),
      timer_(tcp_.get_executor()),
      buffer_(2 * shared.options.most_header),
      welcome_(welcome) {
  if (welcome_) shared_.peers.enter(peer_);
  shared_.connections += welcome_;
  shared_.leaving += !welcome_;
}

HttpConnection::~HttpConnection() {
  drop_request();
  if (welcome_) shared_.peers.leave(peer_);
  shared_.connections -= welcome_;
  shared_.leaving -= !welcome_;
}

void HttpConnection::start() {
  error_code ignored;
  tcp_.socket().set_option(net::ip::tcp::no_delay(true), ignored);
  if (welcome_) return wait_for_request();
  refuse({503, "Too many connections. Close a page, then try again.", {{"Retry-After", "5"}}});
}

void HttpConnection::wait_for_request() {
  if (buffer_.size() > 0) return read_header();
  tcp_.expires_after(used_ ? shared_.options.idle : shared_.options.patience);
  tcp_.async_read_some(buffer_.prepare(2048),
                       [self = shared_from_this()](const error_code& error, std::size_t count) {
                         if (error) return;
                         self->buffer_.commit(count);
                         self->read_header();
                       });
}

void HttpConnection::read_header() {
  used_ = true;
  request_ = HttpRequest();
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

void HttpConnection::on_header(const error_code& error) {
  if (error) return on_bad_request(error);
  // Taken before the body: what a chunked body has after its end must not count as header.
  if (const HttpRefusal refusal =
          read_head(parser_->get().base(), shared_.options.most_header, request_);
      refusal.status != 0) {
    return refuse(refusal);
  }
  only_head_ = parser_->get().method() == http::verb::head;
  if (parser_->is_done()) return dispatch();
  const auto length = parser_->content_length();
  reserve_lazily(request_.body, length ? std::size_t(*length) : shared_.options.most_body);
  if (!piece_) piece_ = std::make_unique<char[]>(kHttpPiece);
  if (expects_continue(request_)) {
    send(std::string(kContinue), {}, &HttpConnection::read_body);
  } else {
    read_body();
  }
}

void HttpConnection::read_body() {
  parser_->get().body() = {piece_.get(), kHttpPiece, true};
  http::async_read(
      tcp_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, std::size_t) { self->on_body(error); });
}

void HttpConnection::on_body(const error_code& error) {
  if (error && error != http::error::need_buffer) return on_bad_request(error);
  const std::size_t count = kHttpPiece - parser_->get().body().size;
  const std::size_t size = request_.body.size() + count;
  if (size > shared_.options.most_body) return on_bad_request(http::error::body_limit);
  if (size > kSmallBody && shared_.buffered + count > shared_.options.most_buffered) {
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

void HttpConnection::on_bad_request(const error_code& error) {
  if (error == http::error::body_limit) {
    return refuse({413, "The body is too large.", {}});
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refuse({431, "The header is too large.", {}});
  }
  if (error == http::error::bad_version) {
    return refuse({505, "This server speaks HTTP/1.0 and HTTP/1.1.", {}});
  }
  const bool gone = error == http::error::end_of_stream || error == http::error::partial_message;
  if (gone || error.category() != make_error_code(http::error::bad_method).category()) return;
  refuse({400, "The request is not well-formed HTTP.", {}});
}

// The rest of what the client sends is not read as a request: it could be anything.
void HttpConnection::refuse(const HttpRefusal& refusal) {
  ++shared_.refused;
  keep_alive_ = false;
  respond(refusal_response(refusal));
}

void HttpConnection::dispatch() {
  ++shared_.requests;
  waiting_ = true;
  keep_alive_ = parser_->get().keep_alive();
  tcp_.expires_never();
  const int turn = ++turn_;
  timer_.expires_after(shared_.options.answer_within);
  timer_.async_wait([self = shared_from_this(), turn](const error_code& error) {
    if (!error)
      self->answer(
          turn,
          refusal_response(
              {504,
               "The answer took too long. It may still be carried out: look before you repeat it.",
               {}}));
  });
  const auto reply = make_http_reply(shared_.mailbox, weak_from_this(), turn);
  try {
    shared_.handler(request_, reply);
  } catch (...) {
    reply->answer(refusal_response({500, "The request could not be answered.", {}}));
  }
  // The memory goes, the claim stays: who answers later works on a copy.
  release(request_.body);
}

void serve_connection(HttpShared& shared, net::ip::tcp::socket socket) {
  const HttpOptions& options = shared.options;
  error_code gone;
  const net::ip::address peer = plain_address(socket.remote_endpoint(gone).address());
  if (gone) return;
  const bool limited = options.limit_loopback || !peer.is_loopback();
  const bool welcome = shared.connections < options.most_connections &&
                       !(limited && shared.peers.of(peer) >= options.most_per_address);
  if (!welcome && shared.leaving >= options.most_connections) {
    ++shared.refused;
    return;
  }
  std::make_shared<HttpConnection>(shared, std::move(socket), peer, welcome)->start();
}

}  // namespace engram
