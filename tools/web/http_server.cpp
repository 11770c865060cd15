#include "tools/web/http_server.h"

#include <fcntl.h>

#include <boost/asio/steady_timer.hpp>
#include <thread>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/web/http_shared.h"

namespace engram {
namespace {

namespace net = boost::asio;
using tcp = net::ip::tcp;
using boost::system::error_code;

// A child process must not keep the port.
void close_on_exec(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

Status no_port(const tcp::endpoint& at, const error_code& error) {
  const std::string host =
      at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
  const std::string place = fmt::format("{}:{}", host, at.port());
  if (error == net::error::address_in_use) {
    return Status(Code::busy,
                  fmt::format("{} is in use by another program, which `ss -ltnp` names. "
                              "No server was started. Stop that program, or take another "
                              "port (--http :0 takes any free one).",
                              place));
  }
  if (error == net::error::access_denied) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: ports below 1024 are for root. No server was started. Take a port "
                    "above, such as 8477.",
                    place));
  }
  if (error == boost::system::errc::address_not_available ||
      error == net::error::address_family_not_supported) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: this machine has no such address (`ip address` lists those it has). "
                    "No server was started. 127.0.0.1 is for this machine alone, 0.0.0.0 for "
                    "all addresses.",
                    place));
  }
  return Status(Code::io_failure, fmt::format("{}: the system refuses: {}. No server was started.",
                                              place, error.message()));
}

}  // namespace

struct HttpServer::Impl {
  // What waits in `io` are connections: they end with it, and need `shared` until then.
  struct Loop {
    net::io_context io{1};
    tcp::acceptor acceptor{io};
    net::steady_timer pause{io};
  };
  HttpShared shared;
  int port = 0;
  std::unique_ptr<Loop> loop = std::make_unique<Loop>();
  std::thread thread;

  Status listen();
  void accept();
  void run();
};

Status HttpServer::Impl::listen() {
  error_code error;
  const net::ip::address address = net::ip::make_address(shared.options.address, error);
  const int wanted = shared.options.port;
  if (error || wanted < 0 || wanted > 65535) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}, port {}: not an address and a port from 0 to 65535. No server was "
                    "started.",
                    printable(shared.options.address), wanted));
  }
  tcp::acceptor& acceptor = loop->acceptor;
  const tcp::endpoint place(address, static_cast<unsigned short>(wanted));
  acceptor.open(place.protocol(), error);
  if (error) return no_port(place, error);
  close_on_exec(acceptor.native_handle());
  acceptor.set_option(net::socket_base::reuse_address(true), error);  // at once after a restart
  acceptor.bind(place, error);
  if (!error) acceptor.listen(128, error);
  if (error) return no_port(place, error);
  port = acceptor.local_endpoint(error).port();
  return {};
}

void HttpServer::Impl::accept() {
  loop->acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == net::error::operation_aborted) return;
    if (!error) {
      close_on_exec(socket.native_handle());
      try {
        serve_connection(shared, std::move(socket));
      } catch (...) {
        // Out of memory: this client is gone, the next may have more luck.
      }
      accept();
      return;
    }
    // No descriptors left, or a client that was gone at once: neither may turn into a busy loop.
    loop->pause.expires_after(std::chrono::milliseconds(50));
    loop->pause.async_wait([this](const error_code& stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpServer::Impl::run() {
  while (!loop->io.stopped()) {
    try {
      loop->io.run();
    } catch (...) {
      // Out of memory, in the middle of one client: that client is gone with its handler.
    }
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  stop();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      HttpHandler handler) {
  try {
    auto impl = std::make_unique<Impl>();
    impl->shared.options = options;
    impl->shared.handler = std::move(handler);
    impl->shared.mailbox = std::make_shared<HttpMailbox>(impl->loop->io);
    ENGRAM_TRY(impl->listen());
    impl->accept();
    impl->thread = std::thread([raw = impl.get()] { raw->run(); });
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
  } catch (const std::exception& error) {
    return Status(Code::internal,
                  fmt::format("The HTTP server cannot be started: {}.", error.what()));
  }
}

int HttpServer::port() const {
  return impl_->port;
}

HttpCounters HttpServer::counters() const {
  return {impl_->shared.requests, impl_->shared.refused, impl_->shared.connections};
}

void HttpServer::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->shared.mailbox->close();
  impl_->loop->io.stop();
  impl_->thread.join();
  impl_->loop.reset();
}

}  // namespace engram
