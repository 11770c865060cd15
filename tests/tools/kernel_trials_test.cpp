// The trials of `doctor` on the emulator: each kernel that a GPU would get, and how fast it runs here.
#include "tools/kernel_trials.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "kernels/kernel_code.h"
#include "kernels/kernels_simt.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_names.h"
#include "tools/units.h"

namespace engram {

using test::WatchedLaunches;

TEST_CASE("kernel trials: every compiled kernel is tried", "[tools][doctor]") {
  const WatchedLaunches watched;
  REQUIRE(try_kernels(kSimtKernels, TrialSize::emulator).failures() == 0);
  const std::set<std::string> tried = watched.names();
  for (const std::string& kernel : compiled_kernels()) {
    CAPTURE(kernel);
    CHECK(tried.count(kernel) == 1);
  }
  for (const std::string& kernel : tried) {  // nvcc has compiled what is tried
    CAPTURE(kernel);
    const auto all = compiled_kernels();
    CHECK(std::find(all.begin(), all.end(), kernel) != all.end());
  }
}

TEST_CASE("kernel trials: both ways of hidden units are tried", "[tools][doctor]") {
  const KernelTrials trials = try_kernels(kSimtKernels, TrialSize::emulator);
  for (const char* operation : {"gram_update", "kernel_rows", "combine_rows"}) {
    for (const bool whole : {true, false}) {
      CAPTURE(operation, whole);
      CHECK(std::any_of(trials.trials.begin(), trials.trials.end(), [&](const KernelTrial& trial) {
        return trial.operation == operation && trial.size.whole_numbers == whole;
      }));
    }
  }
}

// Not a test but a figure: unit_tests "[.speed]"
TEST_CASE("kernel trials: threads a second of the emulator", "[.speed]") {
  const WatchedLaunches watched;
  double seconds = 0;
  for (const KernelTrial& trial : try_kernels(kSimtKernels, TrialSize::emulator).trials) {
    seconds += 1e-3 * trial.device_ms;
  }
  fmt::print("emulator: {:.0f} threads in {:.2f} s, {:.2f} million threads a second\n",
             watched.threads(), seconds, 1e-6 * watched.threads() / seconds);
  CHECK(watched.threads() > 0);
}

}  // namespace engram
