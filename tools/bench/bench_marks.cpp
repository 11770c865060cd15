// The marks that the kernels must reach, against OpenBLAS in the same run. Ours and the reference
// take turns and each counts its best time, so that a busy machine disturbs both alike. With one
// thread (--threads=1) the clock is that thread's CPU time, which other programs hardly disturb.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>
#include <vector>

#include "kernels/gram_update.h"
#include "kernels/simd_cpu.h"
#include "platform/threads.h"
#include "tools/bench/bench_clock.h"
#include "tools/bench/bench_problem.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsPerRow = 0.8;
constexpr int kMinTurns = 5, kMaxTurns = 400;
// OpenBLAS's threads go on looking for work for 2^26 cycles after a call, on the cores that ours
// need; ours sleep after microseconds.
constexpr auto kUntilBlasSleeps = std::chrono::milliseconds(35);

// The work is repeated until a sample is long against the clock's own error: the CPU clock of a
// virtual machine can stand still for some microseconds, and the best of many single short calls
// would be such an error, not a time.
template <class Work>
void time_once(Work&& work, double& best) {
  constexpr double kShortestSample = 1e-3;
  const double start = clock_seconds();
  double spent = 0.0;
  int calls = 0;
  for (; spent < kShortestSample; ++calls) {
    work();
    spent = clock_seconds() - start;
  }
  best = std::min(best, spent / calls);
}

// Several samples in a row: on a busy machine a second thread gets its core after a while only.
template <class Work>
void time_often(Work&& work, double& best) {
  constexpr double kLongest = 8e-3;
  for (const double start = clock_seconds(); clock_seconds() - start < kLongest;)
    time_once(work, best);
}

struct Times {
  double ours = std::numeric_limits<double>::infinity();
  double reference = std::numeric_limits<double>::infinity();
};

template <class Ours, class... References>
Times measure(Ours&& ours, References&&... references) {
  ours();  // first touch of the memory
  (references(), ...);
  Times times;
  const Clock::time_point start = Clock::now();
  for (int turn = 0; turn < kMaxTurns; ++turn) {
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (turn >= kMinTurns && spent.count() > kSecondsPerRow) break;
    (time_often(references, times.reference), ...);
    if (thread_count() > 1) std::this_thread::sleep_for(kUntilBlasSleeps);
    time_often(ours, times.ours);
  }
  return times;
}

int missed = 0;

void report(const char* operation, const char* reference, int units, int batch, int inputs,
            Times times, double flops, double wanted) {
  const double ratio = times.reference / times.ours;
  const bool pass = ratio >= wanted;
  missed += !pass;
  std::printf("%-12s %5d %5d %5d  %9.3f %8.1f   %-6s %9.3f %8.1f  %7.2f  >= %-3g %s\n", operation,
              units, batch, inputs, 1e3 * times.ours, 1e-9 * flops / times.ours, reference,
              1e3 * times.reference, 1e-9 * flops / times.reference, ratio, wanted,
              pass ? "pass" : "MISS");
  std::fflush(stdout);
}

void sign_project_marks() {
  for (const int units : kUnits) {
    for (const int inputs : kFeatures) {
      ProjectionProblem one(1, inputs, units);
      const auto ours = [](ProjectionProblem& problem) {
        must(cpu::sign_project(Stream{}, problem.q.read(), problem.signs(), problem.p.view()));
      };
      report("sign_project", "sgemv", units, 1, inputs,
             measure([&] { ours(one); }, [&] { one.sgemv(); }, [&] { one.sgemv_by_unit(); }),
             one.flops(), 5.0);
      ProjectionProblem many(256, inputs, units);
      report("sign_project", "sgemm", units, 256, inputs,
             measure([&] { ours(many); }, [&] { many.sgemm(); }), many.flops(), 1.0);
    }
  }
}

void gram_update_marks() {
  for (const int units : kUnits) {
    for (const int batch : kBatches) {
      LearningProblem problem(batch, units);
      const Times times =
          measure([&] { must(cpu::gram_update(Stream{}, problem.h.read(), 1.0f, problem.g())); },
                  [&] { problem.ssyrk(); });
      report("gram_update", "ssyrk", units, batch, 0, times, problem.gram_flops(), 1.0);
    }
  }
}

void weight_marks() {
  for (const int units : kUnits) {
    for (const int inputs : kFeatures) {
      const double floats = 4.0 * inputs * units, bits = 4.0 * ((inputs + 31) / 32) * units;
      missed += floats / bits < 32.0;
      std::printf(
          "weights      %5d       %5d  %9.0f bytes      float  %9.0f bytes     %7.2f  >= 32  %s\n",
          units, inputs, bits, floats, floats / bits, floats / bits >= 32.0 ? "pass" : "MISS");
    }
  }
}

}  // namespace

int run_marks() {
  std::printf("%d threads, %s; %s, the best of %d to %d turns\n", thread_count(),
              cpu::name(cpu::simd()), thread_count() > 1 ? "wall time" : "CPU time", kMinTurns,
              kMaxTurns);
  std::printf("%-12s %5s %5s %5s  %9s %8s   %-6s %9s %8s  %7s  %s\n", "operation", "M", "batch",
              "L", "ms", "GFLOP/s", "BLAS", "ms", "GFLOP/s", "ratio", "mark");
  sign_project_marks();
  gram_update_marks();
  weight_marks();
  std::printf(missed ? "%d marks missed\n" : "all marks passed\n", missed);
  return missed;
}

}  // namespace engram::bench
