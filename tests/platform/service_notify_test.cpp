// What a service manager hears: real datagram sockets, both kinds of address.
#include "platform/service_notify.h"

#include <cstdlib>

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/notify_listener.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

Result<ServiceNotify> told(const std::string& socket, const char* watchdog = nullptr,
                           const char* pid = nullptr) {
  ::setenv("NOTIFY_SOCKET", socket.c_str(), 1);
  if (watchdog != nullptr) ::setenv("WATCHDOG_USEC", watchdog, 1);
  if (pid != nullptr) ::setenv("WATCHDOG_PID", pid, 1);
  return ServiceNotify::from_environment();
}

}  // namespace

TEST_CASE("service_notify: each word arrives as one datagram", "[platform][service]") {
  const test::TempDirectory folder;
  const bool abstract = GENERATE(false, true);
  test::NotifyListener manager(abstract ? "@engram-test-" + std::to_string(::getpid())
                                        : folder / "notify");
  const Result<ServiceNotify> notify = told(manager.name());
  REQUIRE(notify.ok());
  REQUIRE(notify.value().has_listener());
  REQUIRE(notify.value().ready("12 classes").ok());
  REQUIRE(manager.wait() == "READY=1\nSTATUS=12 classes");
  REQUIRE(notify.value().feed().ok());
  REQUIRE(manager.wait() == "WATCHDOG=1");
  REQUIRE(notify.value().status("a mug").ok());
  REQUIRE(manager.wait() == "STATUS=a mug");
  REQUIRE(notify.value().stopping("").ok());
  REQUIRE(manager.wait() == "STOPPING=1\nSTATUS=");
  REQUIRE(manager.wait(std::chrono::milliseconds(0)).empty());
}

TEST_CASE("service_notify: a label cannot smuggle in a word of its own", "[platform][service]") {
  const test::TempDirectory folder;
  test::NotifyListener manager(folder / "notify");
  const Result<ServiceNotify> notify = told(manager.name());
  REQUIRE(notify.value().status("mug\nMAINPID=1\r\x1b[m").ok());
  REQUIRE(manager.wait() == "STATUS=mug MAINPID=1  [m");
}

TEST_CASE("service_notify: nobody listens", "[platform][service]") {
  ::unsetenv("NOTIFY_SOCKET");
  const Result<ServiceNotify> notify = ServiceNotify::from_environment();
  REQUIRE(notify.ok());
  REQUIRE_FALSE(notify.value().has_listener());
  REQUIRE(notify.value().ready("").ok());
  REQUIRE(notify.value().feed().ok());
}

TEST_CASE("service_notify: children inherit nothing", "[platform][service]") {
  const test::TempDirectory folder;
  REQUIRE(told(folder / "notify", "30000000", "1").ok());
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
    CAPTURE(name);
    REQUIRE(std::getenv(name) == nullptr);
  }
}

TEST_CASE("service_notify: the watchdog is asked for in microseconds, for one process",
          "[platform][service]") {
  const std::string self = std::to_string(::getpid());
  const auto period = [](const char* usec, const char* pid) {
    return told("@nobody", usec, pid).value().watchdog().count();
  };
  REQUIRE(period("30000000", self.c_str()) == 30'000'000);
  REQUIRE(period("30000000", nullptr) == 30'000'000);
  REQUIRE(period("30000000", "1") == 0);  // meant for another
  REQUIRE(period(nullptr, nullptr) == 0);
  for (const char* wrong : {"", "0", "-5", "3s", " 3", "99999999999999999999"}) {
    CAPTURE(wrong);
    REQUIRE(period(wrong, nullptr) == 0);
  }
}

TEST_CASE("service_notify: odd sockets are refused", "[platform][service]") {
  const auto wrong = GENERATE(as<std::string>(), "relative", "@", "/", "vsock:2:1234",
                              "/" + std::string(200, 'x'));
  const Result<ServiceNotify> notify = told(wrong);
  REQUIRE(notify.status().code() == Code::invalid_argument);
  REQUIRE(test::says(notify.status(), "NOTIFY_SOCKET"));
}

TEST_CASE("service_notify: a manager that is gone or does not read is a sentence",
          "[platform][service]") {
  const test::TempDirectory folder;
  const Result<ServiceNotify> gone = told(folder / "gone");
  REQUIRE(gone.value().feed().code() == Code::io_failure);
  REQUIRE(test::says(gone.value().feed(), "WATCHDOG=1"));

  test::NotifyListener deaf(folder / "deaf");
  const Result<ServiceNotify> notify = told(deaf.name());
  Status last;
  for (int i = 0; i < 100'000 && last.ok(); ++i) last = notify.value().feed();
  REQUIRE(last.code() == Code::io_failure);  // its queue is full: we came back all the same
}

}  // namespace engram
