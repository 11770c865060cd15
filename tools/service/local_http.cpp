#include "tools/service/local_http.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace engram {

namespace {

constexpr std::size_t kMostReplyBytes = 64 * 1024;

class Connection {
 public:
  Connection() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  int socket() const { return socket_; }

 private:
  int socket_;
};

int number_at_front(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<LocalAnswer> get_from_here(int port, const std::string& path) {
  const auto fail = [&](const std::string& why) {
    return Status(Code::io_failure, fmt::format("http://127.0.0.1:{}{}: {}", port, path, why));
  };
  const Connection connection;
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(connection.socket(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(connection.socket(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection.socket(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    return fail(std::strerror(errno));
  }
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", path, port);
  if (::send(connection.socket(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return fail(std::strerror(errno));
  }
  std::string text;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (text.size() < kMostReplyBytes) {
    if (std::chrono::steady_clock::now() > end) return fail("no whole answer in 2 s");
    char part[4096];
    const ssize_t count = ::recv(connection.socket(), part, sizeof part, 0);
    if (count < 0) return fail(errno == EAGAIN ? "no answer in 2 s" : std::strerror(errno));
    if (count == 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  const std::size_t space = text.find(' ');
  const std::size_t body = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.") || space == std::string::npos || body == std::string::npos) {
    return fail("who listens there does not speak HTTP");
  }
  return LocalAnswer{.status = number_at_front(std::string_view(text).substr(space + 1)),
                     .body = text.substr(body + 4)};
}

}  // namespace engram
