#include "platform/service_notify.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace engram {

namespace {

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value != nullptr ? value : "";
  ::unsetenv(name);
  return taken;
}

// 0: not a number above zero.
long long number_in(const std::string& text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number > 0 ? number : 0;
}

// A label in a status must not become an assignment of its own.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return line;
}

}  // namespace

Result<ServiceNotify> ServiceNotify::from_environment() {
  ServiceNotify notify;
  std::string socket = take_variable("NOTIFY_SOCKET");
  const long long watchdog = number_in(take_variable("WATCHDOG_USEC"));
  const std::string watched = take_variable("WATCHDOG_PID");
  if (socket.empty()) return notify;
  if ((socket[0] != '/' && socket[0] != '@') || socket.size() < 2 ||
      socket.size() >= sizeof(sockaddr_un::sun_path)) {
    return Status(Code::invalid_argument,
                  fmt::format("NOTIFY_SOCKET is {}: neither a path nor @name of at most {} bytes",
                              one_line(socket), sizeof(sockaddr_un::sun_path) - 1));
  }
  if (socket[0] == '@') socket[0] = '\0';
  notify.address_ = std::move(socket);
  // The variable may be a parent's, handed on by mistake.
  if (watched.empty() || number_in(watched) == ::getpid()) {
    notify.watchdog_ = std::chrono::microseconds(watchdog);
  }
  return notify;
}

Status ServiceNotify::ready(std::string_view status) const {
  return send("READY=1\nSTATUS=" + one_line(status));
}
Status ServiceNotify::status(std::string_view status) const {
  return send("STATUS=" + one_line(status));
}
Status ServiceNotify::feed() const {
  return send("WATCHDOG=1");
}
Status ServiceNotify::stopping(std::string_view status) const {
  return send("STOPPING=1\nSTATUS=" + one_line(status));
}

Status ServiceNotify::send(const std::string& message) const {
  if (!has_listener()) return Status();
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) {
    return Status(
        Code::io_failure,
        fmt::format("cannot make a socket to tell the service manager: {}", std::strerror(errno)));
  }
  // A manager that does not read must not hold us up.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  // The length counts: an abstract name has no end of its own.
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const ssize_t sent = ::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&to), length);
  const int error = errno;
  ::close(socket);
  if (sent == static_cast<ssize_t>(message.size())) return Status();
  return Status(Code::io_failure,
                fmt::format("cannot tell the service manager {}: {}",
                            message.substr(0, message.find('\n')), std::strerror(error)));
}

}  // namespace engram
