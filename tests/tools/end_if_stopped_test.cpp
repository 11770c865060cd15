#include "tools/live/end_if_stopped.h"

#include <atomic>
#include <csignal>

#include "tests/support/catch.h"

namespace engram {

// That it ends a program is tested with `learn` (tests/system/cli_storage_test.py).
TEST_CASE("a signal that comes behind the work does not end the program", "[tools][stop]") {
  const StopSignals signals;
  std::atomic<bool> ended{false};
  {
    EndIfStopped watch(signals, [&] { ended = true; });
    watch.work_is_done();
    std::raise(SIGTERM);
    watch.work_is_done();
  }
  CHECK(signals.stopped());
  CHECK_FALSE(ended);
}

TEST_CASE("work that nobody stops is left alone", "[tools][stop]") {
  const StopSignals signals;
  bool ended = false;
  {
    const EndIfStopped watch(signals, [&] { ended = true; });
  }
  CHECK_FALSE(ended);
  CHECK_FALSE(signals.stopped());
}

}  // namespace engram
