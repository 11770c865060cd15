// READY when it answers, and food for the watchdog only while there is progress.
#include "tools/service/service_watch.h"

#include <atomic>
#include <cstdlib>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/notify_listener.h"
#include "tests/support/temp_directory.h"

namespace engram {

using namespace std::chrono_literals;

TEST_CASE("service_watch: who stands still gets no food", "[tools][service]") {
  const ProgressJudge::Clock::time_point start{};
  ProgressJudge judge(30s, start);
  ServicePulse pulse{.look = 1, .teach = 1};
  REQUIRE(judge.makes_progress(pulse, start + 10s));
  REQUIRE(judge.makes_progress(pulse, start + 39s));
  REQUIRE_FALSE(judge.makes_progress(pulse, start + 40s));  // the look thread stood for 30 s
  pulse.look = 2;
  REQUIRE(judge.makes_progress(pulse, start + 50s));

  // An order may take longer than a look, but not for ever.
  const auto frames_come = [&](std::chrono::seconds at) {
    ++pulse.look;
    return judge.makes_progress(pulse, start + at);
  };
  for (std::chrono::seconds at = 60s; at < 610s; at += 10s) REQUIRE(frames_come(at));
  REQUIRE_FALSE(frames_come(610s));
  pulse.teach = 2;
  REQUIRE(frames_come(620s));
}

TEST_CASE("service_watch: ready with the first answer, then food and status, then stopping",
          "[tools][service]") {
  const test::TempDirectory folder;
  test::NotifyListener manager(folder / "notify");
  std::atomic<bool> answers = false, alive = true;
  std::atomic<std::uint64_t> beat = 0;
  std::atomic<int> faults = 0;
  {
    ::setenv("NOTIFY_SOCKET", manager.name().c_str(), 1);
    ::setenv("WATCHDOG_USEC", "200000", 1);
    const ServiceWatch watch(
        ServiceNotify::from_environment().value(),
        [&] {
          if (alive) ++beat;
          return ServicePulse{.look = beat, .teach = beat, .answers = answers, .status = "live"};
        },
        [&](const Status&) { ++faults; });
    // Starting up is progress too, but it is not being ready.
    for (int i = 0; i < 3; ++i) REQUIRE(manager.wait() == "WATCHDOG=1");
    answers = true;
    std::string heard;
    do heard = manager.wait();
    while (heard == "WATCHDOG=1");
    REQUIRE(heard == "READY=1\nSTATUS=live");
    REQUIRE(manager.wait() == "WATCHDOG=1");
    // Threads that hang: what is on its way still arrives, then silence.
    alive = false;
    while (!manager.wait(1s).empty()) {
    }
    alive = true;
    REQUIRE(manager.wait() == "WATCHDOG=1");
  }
  std::string last;
  for (std::string heard; !(heard = manager.wait(0s)).empty();) last = heard;
  REQUIRE(last.starts_with("STOPPING=1"));
  REQUIRE(faults == 0);
}

TEST_CASE("service_watch: a manager that is gone is told once", "[tools][service]") {
  const test::TempDirectory folder;
  ::setenv("NOTIFY_SOCKET", (folder / "gone").c_str(), 1);
  ::setenv("WATCHDOG_USEC", "1000", 1);
  std::atomic<int> asked = 0, faults = 0;
  {
    const ServiceWatch watch(
        ServiceNotify::from_environment().value(),
        [&] { return ServicePulse{.look = static_cast<std::uint64_t>(++asked), .teach = 0}; },
        [&](const Status&) { ++faults; });
    while (asked < 5) std::this_thread::sleep_for(1ms);
  }
  REQUIRE(faults == 1);
}

TEST_CASE("service_watch: without a listener nobody is asked", "[tools][service]") {
  const ServiceWatch watch(
      ServiceNotify(), []() -> ServicePulse { std::abort(); }, [](const Status&) {});
}

}  // namespace engram
