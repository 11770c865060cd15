#include "platform/child_process.h"

#include <atomic>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.h"

using namespace engram;

TEST_CASE("a child that shall stop is killed, with what it started", "[platform][child]") {
  // The inner sleep holds standard output open: were it alive, nobody would come back.
  std::atomic<bool> stop{false};
  const auto outcome = run_child({.arguments = {"sh", "-c", "sleep 600 & echo begun; wait"},
                                  .seconds = 600,
                                  .on_line = [&](const std::string&) { stop = true; },
                                  .stop = &stop});
  REQUIRE(outcome.ok());
  CHECK(outcome.value().stopped);
  CHECK_FALSE(outcome.value().timed_out);
  CHECK(outcome.value().signal == SIGKILL);
  CHECK(outcome.value().output == "begun\n");
}

TEST_CASE("a child of our own ends with its parent", "[platform][child]") {
  int told[2];
  REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    if (::fork() == 0) {
      end_with_parent();
      (void)!::write(told[1], "x", 1);
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }
  ::close(told[1]);
  char byte = 0;
  REQUIRE(::read(told[0], &byte, 1) == 1);  // the child is so far
  REQUIRE(::kill(parent, SIGKILL) == 0);
  REQUIRE(::waitpid(parent, nullptr, 0) == parent);
  // Its end of the pipe closes with it.
  pollfd wanted{.fd = told[0], .events = POLLIN, .revents = 0};
  CHECK(::poll(&wanted, 1, 60'000) == 1);
  CHECK(::read(told[0], &byte, 1) == 0);
  ::close(told[0]);
}

TEST_CASE("a child's failure comes over in one line", "[platform][child]") {
  const Status failure = failure_of(failure_line(Status(Code::out_of_memory, "two\nlines")));
  CHECK(failure.code() == Code::out_of_memory);
  CHECK(std::string(failure.what()) == "two lines");
  // No code of ours, or none at all.
  for (const char* line : {"0 x", "10 x", "256 x", "-1 x", "3", "3x", "", "Segmentation fault"}) {
    CHECK(failure_of(line).code() == Code::internal);
    CHECK(std::string(failure_of(line).what()) == line);
  }
}
