// Microbenchmarks of every operation over M, batch and L, with OpenBLAS on the same shapes.
//
//     bench_kernels [--benchmark_filter=gram_update] [--threads=N]     Google Benchmark's options
//     bench_kernels --marks                                            ours against OpenBLAS
//
// GB/s counts the bytes an operation must move; GFLOP/s counts multiplications and additions.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/activate.h"
#include "kernels/cholesky.h"
#include "kernels/cholesky_solve.h"
#include "kernels/class_sums.h"
#include "kernels/combine_rows.h"
#include "kernels/factor_append.h"
#include "kernels/gram_update.h"
#include "kernels/inverse_diagonal.h"
#include "kernels/kernel_rows.h"
#include "kernels/project.h"
#include "kernels/quantise.h"
#include "kernels/score.h"
#include "kernels/triangular_solve.h"
#include "platform/threads.h"
#include "tools/bench/bench_problem.h"

namespace engram::bench {
namespace {

using benchmark::State;

template <class Operation>
void run(State& state, double flops, double bytes, Operation&& operation) {
  for (auto _ : state) {
    operation();
    benchmark::ClobberMemory();
  }
  const auto rate = [](double amount) {
    return benchmark::Counter(1e-9 * amount, benchmark::Counter::kIsIterationInvariantRate);
  };
  if (flops > 0) state.counters["GFLOP/s"] = rate(flops);
  if (bytes > 0) state.counters["GB/s"] = rate(bytes);
}

template <class Operation>
void must(Operation&& status) {
  ENGRAM_CHECK(status.ok());
}

void quantise(State& state, int batch, int inputs, int) {
  ProjectionProblem x(batch, inputs, 1);
  Matrix<std::int32_t> not_finite(1, batch);
  run(state, 0, 5.0 * batch * inputs, [&] {
    must(cpu::quantise(Stream{}, x.features.read(), 10.0f, x.q.view(), not_finite.view()));
  });
}
void sign_project(State& state, int batch, int inputs, int units) {
  ProjectionProblem x(batch, inputs, units);
  run(state, x.flops(), 4.0 * double(x.words.data.size()) + 4.0 * batch * units,
      [&] { must(cpu::sign_project(Stream{}, x.q.read(), x.signs(), x.p.view())); });
}
void project(State& state, int batch, int inputs, int units) {
  ProjectionProblem x(batch, inputs, units);
  run(state, x.flops(), 4.0 * inputs * units + 4.0 * batch * units, [&] {
    must(cpu::project(Stream{}, x.features.read(), x.weights.read(), Nonlinearity::relu,
                      x.h.view()));
  });
}
void openblas_projection(State& state, int batch, int inputs, int units) {
  ProjectionProblem x(batch, inputs, units);
  run(state, x.flops(), 4.0 * inputs * units + 4.0 * batch * units,
      [&] { batch == 1 ? x.sgemv() : x.sgemm(); });
}
void activate(State& state, int batch, int, int units) {
  ProjectionProblem x(batch, 1, units);
  run(state, 0, 8.0 * batch * units,
      [&] { must(cpu::activate(Stream{}, x.p.read(), 500, 31, x.h.view())); });
}
void score(State& state, int batch, int, int units) {
  LearningProblem x(batch, units, LearningProblem::without_gram);
  run(state, 2.0 * batch * kClasses * units, 4.0 * kClasses * units + 4.0 * batch * units,
      [&] { must(cpu::score(Stream{}, x.h.read(), x.sums.read(), x.scores.view())); });
}
void class_sums(State& state, int batch, int, int units) {
  LearningProblem x(batch, units, LearningProblem::without_gram);
  run(state, 2.0 * batch * units, 12.0 * batch * units,
      [&] { must(cpu::class_sums(Stream{}, x.h.read(), x.labels.read(), 1.0f, x.sums.view())); });
}
void gram_update(State& state, int batch, int, int units) {
  LearningProblem x(batch, units);
  run(state, x.gram_flops(), x.gram_bytes(),
      [&] { must(cpu::gram_update(Stream{}, x.h.read(), 1.0f, x.g())); });
}
void openblas_ssyrk(State& state, int batch, int, int units) {
  LearningProblem x(batch, units);
  run(state, x.gram_flops(), x.gram_bytes(), [&] { x.ssyrk(); });
}
void cholesky(State& state, int, int, int units) {
  LearningProblem x(256, units);
  must(cpu::gram_update(Stream{}, x.h.read(), 1.0f, x.g()));
  run(state, double(units) * units * units / 3.0, 0,
      [&] { must(cpu::cholesky(Stream{}, kLambda, {}, x.g())); });
}
void cholesky_solve(State& state, int, int, int units) {
  LearningProblem x(256, units);
  must(cpu::gram_update(Stream{}, x.h.read(), 1.0f, x.g()));
  must(cpu::cholesky(Stream{}, kLambda, {}, x.g()));
  run(state, 2.0 * kClasses * double(units) * units, 0,
      [&] { must(cpu::cholesky_solve(Stream{}, x.g(), x.sums.view())); });
}
void inverse_diagonal(State& state, int, int, int units) {
  LearningProblem x(256, units);
  Matrix<float> scratch(units, 64), d(1, units);
  must(cpu::gram_update(Stream{}, x.h.read(), 1.0f, x.g()));
  must(cpu::cholesky(Stream{}, kLambda, {}, x.g()));
  run(state, double(units) * units * units / 3.0, 0,
      [&] { must(cpu::inverse_diagonal(Stream{}, x.g(), scratch.view(), d.view())); });
}
void factor_append(State& state, int batch, int, int units) {
  LearningProblem x(256, units);
  must(cpu::gram_update(Stream{}, x.h.read(), 1.0f, x.g()));
  must(cpu::cholesky(Stream{}, kLambda, {}, x.g()));
  const double known = units - batch;
  run(state, known * known * batch + known * batch * batch, 2.0 * known * known,
      [&] { must(cpu::factor_append(Stream{}, kLambda, units - batch, x.g())); });
}
void triangular_solve(State& state, int batch, int, int units) {
  LearningProblem x(batch, units);
  must(cpu::cholesky(Stream{}, kLambda, {}, x.g()));
  run(state, double(batch) * units * units, 2.0 * units * units,
      [&] { must(cpu::triangular_solve(Stream{}, x.g(), true, x.h.view())); });
}

constexpr int kKeptSamples = 2000;
std::vector<std::uint8_t> kept_bytes(int rows, int units) {
  std::vector<std::uint8_t> bytes(std::size_t(rows) * std::size_t(units));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::uint8_t((i * 2654435761u) >> 27);
  return bytes;
}
void kernel_rows(State& state, int batch, int, int units) {
  const std::vector<std::uint8_t> left = kept_bytes(batch, units);
  const std::vector<std::uint8_t> right = kept_bytes(kKeptSamples, units);
  std::vector<float> k(std::size_t(batch) * kKeptSamples);
  run(state, 2.0 * batch * kKeptSamples * units, double(right.size()), [&] {
    must(cpu::kernel_rows(Stream{}, {left.data(), nullptr, batch, units},
                          {right.data(), nullptr, kKeptSamples, units},
                          {k.data(), batch, kKeptSamples, kKeptSamples}));
  });
}
void combine_rows(State& state, int batch, int, int units) {
  const std::vector<std::uint8_t> kept = kept_bytes(kKeptSamples, units);
  const std::vector<float> weights(std::size_t(batch) * kKeptSamples, 0.5f);
  std::vector<float> sums(std::size_t(batch) * std::size_t(units));
  run(state, 2.0 * batch * kKeptSamples * units, double(kept.size()), [&] {
    must(cpu::combine_rows(Stream{}, {weights.data(), batch, kKeptSamples, kKeptSamples},
                           {kept.data(), nullptr, kKeptSamples, units},
                           {sums.data(), batch, units, units}));
  });
}

using Function = void(State&, int batch, int inputs, int units);

struct Operation {
  const char* name;
  Function* function;
  bool over_batches, over_inputs, over_units;
};
constexpr Operation kOperations[] = {
    {"quantise", quantise, true, true, false},
    {"sign_project", sign_project, true, true, true},
    {"project", project, true, true, true},
    {"openblas_sgemv_sgemm", openblas_projection, true, true, true},
    {"activate", activate, true, false, true},
    {"score", score, true, false, true},
    {"class_sums", class_sums, true, false, true},
    {"gram_update", gram_update, true, false, true},
    {"openblas_ssyrk", openblas_ssyrk, true, false, true},
    {"kernel_rows", kernel_rows, true, false, true},
    {"combine_rows", combine_rows, true, false, true},
    {"cholesky", cholesky, false, false, true},
    {"cholesky_solve", cholesky_solve, false, false, true},
    {"inverse_diagonal", inverse_diagonal, false, false, true},
    {"factor_append", factor_append, true, false, true},
    {"triangular_solve", triangular_solve, true, false, true},
};

void register_all() {
  for (const Operation& operation : kOperations) {
    for (const int units : kUnits) {
      for (const int batch : kBatches) {
        for (const int inputs : kFeatures) {
          if ((!operation.over_units && units != kUnits[0]) ||
              (!operation.over_batches && batch != kBatches[0]) ||
              (!operation.over_inputs && inputs != kFeatures[0])) {
            continue;
          }
          std::string name = operation.name;
          if (operation.over_units) name += "/M:" + std::to_string(units);
          if (operation.over_batches) name += "/batch:" + std::to_string(batch);
          if (operation.over_inputs) name += "/L:" + std::to_string(inputs);
          benchmark::RegisterBenchmark(
              name.c_str(),
              [=, f = operation.function](State& state) { f(state, batch, inputs, units); })
              ->UseRealTime()
              ->Unit(benchmark::kMicrosecond)
              ->MinTime(0.1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  bool marks = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--marks") {
      marks = true;
    } else if (argument.rfind("--threads=", 0) == 0) {
      engram::set_thread_count(std::atoi(argument.c_str() + 10));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  if (marks) return engram::bench::run_marks() == 0 ? 0 : 1;
  engram::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
