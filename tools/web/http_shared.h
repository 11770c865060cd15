// What all clients of an HttpServer share. All of it belongs to the server's thread, but for
// HttpMailbox::post and the counters.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <utility>

#include "tools/web/http_peers.h"
#include "tools/web/http_server.h"

namespace engram {

// The way from other threads to the server's, which may be gone by then.
class HttpMailbox {
 public:
  explicit HttpMailbox(boost::asio::io_context& io) : io_(&io) {}

  template <class Action>
  void post(Action&& action) {
    const std::lock_guard lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::forward<Action>(action));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    io_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

struct HttpShared {
  HttpOptions options;
  HttpHandler handler;
  std::shared_ptr<HttpMailbox> mailbox;
  std::size_t buffered = 0;  // bytes of bodies, of all connections
  int leaving = 0;           // connections that are being told 503
  PeerCounts peers;          // of the others
  std::atomic<std::uint64_t> requests{0}, refused{0};
  std::atomic<int> connections{0};
};

// Takes the socket over. With as many connections as there may be, or as its address may have, the
// client is told so.
void serve_connection(HttpShared& shared, boost::asio::ip::tcp::socket socket);

}  // namespace engram
