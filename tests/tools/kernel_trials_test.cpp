// The trials of `doctor` on the emulator: each kernel that a GPU would get, and how fast it runs here.
#include "tools/kernel_trials.h"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "kernels/kernel_code.h"
#include "kernels/kernels_simt.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_names.h"
#include "tests/support/staged_simt.h"
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

TEST_CASE("kernel trials: a device records each frame once, as one piece of work",
          "[tools][doctor]") {
  const test::OnSimtDevice on;
  const std::size_t recordings = simt::device_recordings();
  const KernelTrials trials = try_kernels(test::kStagedSimtKernels, TrialSize::emulator);
  CHECK(trials.failures() == 0);
  const auto frames =
      std::count_if(trials.trials.begin(), trials.trials.end(),
                    [](const KernelTrial& trial) { return trial.operation == "frame"; });
  CHECK(frames == 7);  // shapes
  CHECK(simt::device_recordings() - recordings == std::size_t(frames));
}

TEST_CASE("kernel trials: a recording that forgets an operation is found", "[tools][doctor]") {
  static int sequences, in_sequence;
  sequences = in_sequence = 0;
  Kernels wrong = kSimtKernels;
  wrong.begin_sequence = [] { ++sequences, in_sequence = true; };
  wrong.end_sequence = [](bool) { return in_sequence = false, Status(); };
  wrong.leverage = [](Stream stream, MatrixView<const float> h,
                      MatrixView<const std::int16_t> probes, MatrixView<const float> scales,
                      MatrixView<float> products, MatrixView<float> leverages) {
    if (in_sequence && sequences % 3 == 0) return Status();  // what is repeated is the third run
    return simt::leverage(stream, h, probes, scales, products, leverages);
  };
  const KernelTrials trials = try_kernels(wrong, TrialSize::emulator, [](const KernelTrial& trial) {
    CAPTURE(trial.operation, trial.shape);
    CHECK(trial.passed() == (trial.operation != "frame"));
  });
  CHECK(trials.failures() == 7);
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
