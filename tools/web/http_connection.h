// One client of the HttpServer, from its first byte to its last. On the server's thread only.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "tools/web/http_head.h"
#include "tools/web/http_reply.h"
#include "tools/web/http_shared.h"

namespace engram {

constexpr std::size_t kHttpPiece = 16 * 1024;  // taken from the network by one read

class HttpConnection : public HttpTurns, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpShared& shared, boost::asio::ip::tcp::socket socket,
                 boost::asio::ip::address peer, bool welcome);
  ~HttpConnection() override;
  void start();
  void answer(int turn, HttpResponse response) override;
  void stream(int turn, HttpStream stream) override;

 private:
  // http_connection_read.cpp
  void wait_for_request();
  void read_header();
  void on_header(const boost::system::error_code& error);
  void read_body();
  void on_body(const boost::system::error_code& error);
  void on_bad_request(const boost::system::error_code& error);
  void refuse(const HttpRefusal& refusal);
  void dispatch();

  // http_connection_write.cpp
  void respond(HttpResponse response);
  void send(std::string head, std::string body, void (HttpConnection::*then)());
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
  boost::asio::ip::address peer_;
  boost::beast::tcp_stream tcp_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::buffer_body>> parser_;
  HttpRequest request_;
  std::size_t claimed_ = 0;  // of shared_.buffered
  std::unique_ptr<char[]> piece_;
  std::string head_, body_;  // being sent
  std::size_t sent_ = 0;
  void (HttpConnection::*then_)() = nullptr;
  HttpStream stream_;
  std::chrono::steady_clock::time_point pulled_at_;
  int turn_ = 0;          // counts requests, so that a late answer does not meet the next one
  bool waiting_ = false;  // for the handler's answer
  bool welcome_;          // not one too many
  bool used_ = false;     // this is not the first request
  bool keep_alive_ = false;
  bool only_head_ = false;
};

}  // namespace engram
