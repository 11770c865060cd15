// The trials of `doctor` on the emulator: each kernel that a GPU would get, and how fast it runs here.
#include "tools/doctor/kernel_trials.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include "kernels/kernel_code.h"
#include "kernels/kernels_simt.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_names.h"
#include "tests/support/staged_simt.h"
#include "tools/console/units.h"
#include "tools/doctor/kernel_trial_cases.h"

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

TEST_CASE("kernel trials: a factor is held against U, and G to the bit", "[tools][doctor]") {
  Kernels wrong = kSimtKernels;
  wrong.cholesky = [](Stream stream, float lambda, MatrixView<const float> held_out, GramView g) {
    ENGRAM_TRY(simt::cholesky(stream, lambda, held_out, g));
    float& last_of_g = g.row(g.size - 1)[g.size - 2];
    last_of_g = std::nextafter(last_of_g, 0.0f);
    return Status();
  };
  wrong.factor_append = [](Stream stream, float lambda, int known, GramView g) {
    ENGRAM_TRY(simt::factor_append(stream, lambda, known, g));
    g.row(0)[g.size - 1] += 0.02f;  // of U's 80 to 150; G's diagonal has 9000 to 30 000
    return Status();
  };
  int found = 0;
  try_kernels(wrong, TrialSize::emulator, [&found](const KernelTrial& trial) {
    const bool is_wrong = trial.operation == "cholesky" || trial.operation == "factor_append";
    CAPTURE(trial.operation, trial.shape, trial.difference);
    CHECK(trial.passed() == !is_wrong);
    if (is_wrong) CHECK(std::isinf(trial.difference) == (trial.operation == "cholesky"));
    found += is_wrong;
  });
  CHECK(found == 2 + 2);
  // A factor that is not computed at all: nothing of it was there before.
  wrong.cholesky = [](Stream, float, MatrixView<const float>, GramView) { return Status(); };
  wrong.factor_append = [](Stream, float, int, GramView) { return Status(); };
  CHECK(try_kernels(wrong, TrialSize::emulator).failures() == 2 + 2);
}

TEST_CASE("kernel trials: the large factor is one that exists", "[tools][doctor]") {
  const TrialCase one = large_factor_case(70);
  TrialFloats wanted, got;
  REQUIRE(one.run(kCpuKernels, TrialClock(), wanted).ok());
  REQUIRE(one.run(kSimtKernels, TrialClock(), got).ok());
  CHECK(one.difference(wanted, got) <= one.tolerance);
  got[69 * 70] += 1.0f;  // G's
  CHECK(std::isinf(one.difference(wanted, got)));
  got[69 * 70] -= 1.0f;
  got.back() += 1.0f;  // its diagonal's
  CHECK(std::isinf(one.difference(wanted, got)));
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
