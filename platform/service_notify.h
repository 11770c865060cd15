// Tells the service manager how this process is doing: systemd's sd_notify, without its library.
//
//     READY=1 (+ STATUS=)   it answers now; `systemctl start` returns
//     STATUS=...            a line for `systemctl status`
//     WATCHDOG=1            it makes progress; without it for WatchdogSec systemd starts it again
//     STOPPING=1            it ends
//
// Each is one datagram to the socket named by $NOTIFY_SOCKET: a path, or @name in the abstract
// namespace. Without that variable every call does nothing and is ok, so that callers need not ask.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "platform/status.h"

namespace engram {

class ServiceNotify {
 public:
  ServiceNotify() = default;  // nobody listens
  // Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and removes them from the environment:
  // they are not meant for children. Call it before there are threads. invalid_argument: a socket
  // that is neither a path nor a name, or is too long.
  static Result<ServiceNotify> from_environment();

  bool has_listener() const { return !address_.empty(); }
  // How long the manager waits for feed() before it starts the service again; 0: it does not watch.
  std::chrono::microseconds watchdog() const { return watchdog_; }

  Status ready(std::string_view status) const;
  Status status(std::string_view status) const;
  Status feed() const;
  Status stopping(std::string_view status) const;

 private:
  Status send(const std::string& message) const;

  std::string address_;  // as in sockaddr_un: an abstract name begins with a zero byte
  std::chrono::microseconds watchdog_{0};
};

}  // namespace engram
