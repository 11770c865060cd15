// What learning costs, in both forms, as ratios from one run.
//
//     bench_learner [--hidden=10000] [--samples=2000] [--classes=100] [--threads=N] [--turns=2] [--marks]
//
// Made-up photos of `classes` classes, L 768, through the learner's own operations. With --marks each
// line ends with pass or MISS, and the exit code says whether all passed. With one thread the clock
// is that thread's CPU time, which other programs disturb little. The dense form takes 4 M^2 bytes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "engine/gcv.h"
#include "engine/instant_kernel.h"
#include "engine/leave_one_out.h"
#include "engine/woodbury.h"
#include "kernels/kernels.h"
#include "platform/blas.h"
#include "tools/bench_clock.h"
#include "tools/bench_problem.h"
#include "tools/bench_settings.h"

namespace engram::bench {
namespace {

constexpr int kFeaturesOfRow = 768;  // L
constexpr int kBatch = 250;          // rows projected at a time
constexpr Kernels kOps = kCpuKernels;

// Samples, hidden units, kernel: what the factored form keeps.
struct Learned {
  explicit Learned(const Settings& settings)
      : rows(settings.samples, kFeaturesOfRow),
        signs((kFeaturesOfRow + 31) / 32, settings.hidden, [this] { return random.bits(); }),
        h(settings.samples, settings.hidden),
        bytes(settings.samples, settings.hidden),
        kernel(settings.samples, settings.samples),
        diagonal(1, settings.samples) {
    Matrix<std::int8_t> spots(settings.classes, kFeaturesOfRow,
                              [this] { return random.between(-30, 30); });
    for (int i = 0; i < settings.samples; ++i) {
      classes.push_back(i % settings.classes);
      for (int l = 0; l < kFeaturesOfRow; ++l) {
        rows.view()(i, l) = std::int8_t(spots.view()(i % settings.classes, l) +
                                        random.between(-40, 40) + random.between(0, 20));
      }
    }
    for (int first = 0; first < settings.samples; first += kBatch) {
      const int count = std::min(kBatch, settings.samples - first);
      project(rows.read().row_range(first, count), h.view().row_range(first, count));
    }
    std::copy(h.data.begin(), h.data.end(), bytes.data.begin());
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, settings.samples, settings.hidden, 1.0f,
                h.data.data(), settings.hidden, 0.0f, kernel.data.data(), settings.samples);
    for (int i = 0; i < settings.samples; ++i) diagonal.data[std::size_t(i)] = kernel.view()(i, i);
  }

  void project(MatrixView<const std::int8_t> q, MatrixView<float> hidden) {
    Matrix<std::int32_t> p(q.rows, signs.cols);
    must(kOps.sign_project(Stream{}, q, {signs.data.data(), kFeaturesOfRow, signs.cols}, p.view()));
    must(kOps.activate(Stream{}, p.read(), 1200, 31, hidden));
  }
  GramView view(int size) { return {kernel.data.data(), diagonal.data.data(), size, kernel.cols}; }
  KeptView kept() const { return {bytes.data.data(), nullptr, bytes.rows, bytes.cols}; }
  // The kernel's row of sample n.
  void fill_row(int n) {
    must(kOps.kernel_rows(Stream{}, kept().row_range(n, 1), kept().row_range(0, n + 1),
                          {kernel.view().row(n), 1, n + 1, kernel.cols}));
    diagonal.data[std::size_t(n)] = kernel.view()(n, n);
  }

  Random random;
  Matrix<std::int8_t> rows;
  Matrix<std::uint32_t> signs;
  Matrix<float> h;
  Matrix<std::uint8_t> bytes;
  Matrix<float> kernel, diagonal;
  std::vector<std::int32_t> classes;
};

int missed = 0;

void line(const Settings& settings, const char* what, double value, const char* unit, double ratio,
          const char* mark, bool pass) {
  std::printf("%-58s %10.4f %-3s %9.2f", what, value, unit, ratio);
  if (settings.marks) {
    std::printf("  %-8s %s", mark, pass ? "pass" : "MISS");
    missed += !pass;
  }
  std::printf("\n");
  std::fflush(stdout);
}

// End of a task in the factored form: choice, factor, readout.
double factored_end(const Settings& settings, Learned& x, LambdaChoice& choice,
                    Matrix<float>& readout) {
  return best_seconds(settings.turns + 1, 1, [&] {
    LeaveOneOut problem(kOps, x.view(settings.samples), x.classes, settings.classes);
    choice = choose_by_leave_one_out(problem);
    std::fill(readout.data.begin(), readout.data.end(), 0.0f);
    must(kOps.combine_rows(Stream{}, problem.dual(), x.kept(), readout.view()));
  });
}

void run(const Settings& settings) {
  const int hidden = settings.hidden, samples = settings.samples, classes = settings.classes;
  std::printf("M %d, N %d, K %d, L %d, %d threads; %s, the best of %d\n", hidden, samples, classes,
              kFeaturesOfRow, thread_count(), thread_count() > 1 ? "wall time" : "CPU time",
              settings.turns);
  std::printf("%-58s %14s %9s\n", "", "", "ratio");
  Learned x(settings);
  LambdaChoice choice;
  Matrix<float> readout(classes, hidden);
  double factored = factored_end(settings, x, choice, readout);

  const double bytes = double(samples) * (kFeaturesOfRow + hidden + 4.0 * samples) +
                       4.0 * samples * (classes + 129.0) + 8.0 * classes * hidden;
  line(settings, "factored: rows, kernel, solve and two readouts (MB, of 60)", 1e-6 * bytes, "MB",
       60e6 / bytes, ">= 1", bytes < 60e6);

  // One frame, and one sample learned at once (the last one, again and again), in turns: as when a
  // camera runs, neither finds what it needs in the cache.
  Matrix<float> h(1, hidden), scores(1, classes);
  LeaveOneOut before(kOps, x.view(samples - 1),
                     std::span(x.classes).first(std::size_t(samples - 1)), classes);
  ENGRAM_CHECK(std::isfinite(before.loss(choice.lambda)));
  double classify = std::numeric_limits<double>::infinity(), instant = classify;
  for (int turn = 0; turn < 50; ++turn) {
    classify = std::min(classify, best_seconds(1, 1, [&] {
                          x.project(x.rows.read().row_range(0, 1), h.view());
                          must(kOps.score(Stream{}, h.read(), readout.read(), scores.view()));
                        }));
    instant = std::min(
        instant, best_seconds(1, 1, [&] {
          x.project(x.rows.read().row_range(samples - 1, 1), h.view());
          x.fill_row(samples - 1);
          const InstantKernel problem{kOps, choice.lambda, x.view(samples), samples - 1,
                                      [&](auto weights, auto sums) {
                                        return kOps.combine_rows(Stream{}, weights, x.kept(), sums);
                                      }};
          must(learn_at_once(problem, h.read(), std::span(x.classes).last(1), readout.view()));
        }));
  }
  line(settings, "classify one frame without a backbone", 1e3 * classify, "ms", 1.0, "", true);
  line(settings, "factored: learn one sample at once (times classify)", 1e3 * instant, "ms",
       instant / classify, "<= 20", instant <= 20 * classify);

  // The dense form.
  Matrix<float> gram(hidden, hidden), diagonal(1, hidden), sums(classes, hidden),
      base(classes, hidden);
  const GramView g{gram.data.data(), diagonal.data.data(), hidden, hidden};
  for (int first = 0; first < samples; first += kBatch) {
    const MatrixView<const float> part =
        x.h.read().row_range(first, std::min(kBatch, samples - first));
    must(kOps.gram_update(Stream{}, part, 1.0f, g));
    must(kOps.class_sums(Stream{}, part, {x.classes.data() + first, 1, part.rows, part.rows}, 1.0f,
                         sums.view()));
  }
  double trace = 0;
  for (const float value : diagonal.data) trace += value;
  double factor = std::numeric_limits<double>::infinity(), dense = factor, solve = factor;
  LambdaChoice dense_choice;
  for (int turn = 0; turn < settings.turns; ++turn) {
    factor = std::min(factor, best_seconds(1, 1, [&] {
                        must(kOps.cholesky(Stream{}, float(choice.lambda), {}, g));
                      }));
    solve = std::min(solve, best_seconds(1, 1, [&] {
                       must(kOps.cholesky(Stream{}, float(choice.lambda), {}, g));
                       base.data = sums.data;
                       must(kOps.cholesky_solve(Stream{}, g, base.view()));
                     }));
    dense = std::min(dense, best_seconds(1, 1, [&] {
                       auto chosen = choose_by_gcv({kOps, g, sums.read(), samples, 0.5 * trace});
                       must(chosen.status());
                       dense_choice = std::move(chosen).value();
                       if (!dense_choice.factored) {
                         must(kOps.cholesky(Stream{}, float(dense_choice.lambda), {}, g));
                       }
                       base.data = sums.data;
                       must(kOps.cholesky_solve(Stream{}, g, base.view()));
                     }));
  }
  // Once more: a busy machine must not disturb the short measurement more than the long one.
  factored = std::min(factored, factored_end(settings, x, choice, readout));
  line(settings, "dense: one Cholesky factorisation", factor, "s", 1.0, "", true);
  line(settings, "dense: choose lambda and solve (Cholesky factorisations)", dense, "s",
       dense / factor, "<= 3", dense <= 3 * factor);
  line(settings, "factored: choose lambda and solve (times faster than dense)", factored, "s",
       dense / factored, ">= 30", dense >= 30 * factored);

  Matrix<float> next(classes, hidden);
  const double woodbury = best_seconds(settings.turns + 1, 1, [&] {
    Woodbury pending(kOps, hidden);
    must(pending.add(g, x.h.read().row_range(0, 16), std::span(x.classes).first(16)));
    must(pending.solve(base.read(), next.view()));
  });
  line(settings, "dense: learn 16 samples at once (% of a full solve)", woodbury, "s",
       100 * woodbury / solve, "<= 5", woodbury <= 0.05 * solve);
  std::printf("lambda: leave-one-out %.4g after %zu losses, GCV %.4g\n", choice.lambda,
              choice.candidates.size(), dense_choice.lambda);
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  engram::bench::Settings settings;
  if (!engram::bench::read_settings("bench_learner", argc, argv, settings)) return 64;
  engram::bench::run(settings);
  return engram::bench::finish(settings, engram::bench::missed);
}
