// A service manager's end of $NOTIFY_SOCKET.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/status.h"

namespace engram::test {

class NotifyListener {
 public:
  // `name` as in NOTIFY_SOCKET: a path, or @name.
  explicit NotifyListener(std::string name) : name_(std::move(name)) {
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    ENGRAM_CHECK(name_.size() < sizeof at.sun_path);
    std::memcpy(at.sun_path, name_.data(), name_.size());
    if (name_[0] == '@') at.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    ENGRAM_CHECK(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), length) == 0);
  }
  NotifyListener(const NotifyListener&) = delete;
  NotifyListener& operator=(const NotifyListener&) = delete;
  ~NotifyListener() { ::close(socket_); }

  const std::string& name() const { return name_; }
  // The next datagram; empty: none came in time.
  std::string wait(std::chrono::milliseconds patience = std::chrono::seconds(60)) {
    pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) return {};
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    return count < 0 ? "" : std::string(bytes, static_cast<std::size_t>(count));
  }

 private:
  std::string name_;
  int socket_ = -1;
};

}  // namespace engram::test
