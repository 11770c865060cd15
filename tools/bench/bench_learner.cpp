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
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "engine/gcv.h"
#include "engine/gram_spectrum.h"
#include "engine/instant_kernel.h"
#include "engine/learner.h"
#include "engine/leave_one_out.h"
#include "engine/woodbury.h"
#include "kernels/kernels.h"
#include "platform/blas.h"
#include "tools/bench/bench_clock.h"
#include "tools/bench/bench_photos.h"
#include "tools/bench/bench_problem.h"
#include "tools/bench/bench_settings.h"

namespace engram::bench {
namespace {

constexpr int kBatch = 250;  // rows projected at a time
constexpr Kernels kOps = kCpuKernels;

// Made-up photos as features in bytes, and the way from them to hidden units.
struct Rows {
  Rows(int samples, int hidden, int class_count)
      : rows(samples, kInputs),
        signs((kInputs + 31) / 32, hidden, [this] { return random.bits(); }) {
    Matrix<std::int8_t> spots(class_count, kInputs, [this] { return random.between(-30, 30); });
    for (int i = 0; i < samples; ++i) {
      classes.push_back(i % class_count);
      for (int l = 0; l < kInputs; ++l) {
        rows.view()(i, l) = std::int8_t(spots.view()(i % class_count, l) + random.between(-40, 40) +
                                        random.between(0, 20));
      }
    }
  }

  void project(MatrixView<const std::int8_t> q, MatrixView<float> hidden) const {
    Matrix<std::int32_t> p(q.rows, signs.cols);
    must(kOps.sign_project(Stream{}, q, {signs.data.data(), kInputs, signs.cols}, p.view()));
    must(kOps.activate(Stream{}, p.read(), 1200, 31, hidden));
  }
  // Calls work(first, h) with the hidden units of some samples at a time.
  template <class Work>
  void in_batches(Work&& work) const {
    Matrix<float> h(kBatch, signs.cols);
    for (int first = 0; first < rows.rows; first += kBatch) {
      const int count = std::min(kBatch, rows.rows - first);
      project(rows.read().row_range(first, count), h.view().row_range(0, count));
      work(first, h.read().row_range(0, count));
    }
  }

  Random random;
  Matrix<std::int8_t> rows;
  Matrix<std::uint32_t> signs;
  std::vector<std::int32_t> classes;
};

// What the factored form keeps: hidden units and kernel.
struct Learned : Rows {
  explicit Learned(const Settings& settings)
      : Rows(settings.samples, settings.hidden, settings.classes),
        h(settings.samples, settings.hidden),
        bytes(settings.samples, settings.hidden),
        kernel(settings.samples, settings.samples),
        diagonal(1, settings.samples) {
    in_batches([&](int first, MatrixView<const float> part) {
      std::copy_n(part.data, std::size_t(part.rows) * std::size_t(part.cols), h.view().row(first));
    });
    std::copy(h.data.begin(), h.data.end(), bytes.data.begin());
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, settings.samples, settings.hidden, 1.0f,
                h.data.data(), settings.hidden, 0.0f, kernel.data.data(), settings.samples);
    for (int i = 0; i < settings.samples; ++i) diagonal.data[std::size_t(i)] = kernel.view()(i, i);
  }

  GramView view(int size) { return {kernel.data.data(), diagonal.data.data(), size, kernel.cols}; }
  KeptView kept() const { return {bytes.data.data(), nullptr, bytes.rows, bytes.cols}; }
  // The kernel's row of sample n.
  void fill_row(int n) {
    must(kOps.kernel_rows(Stream{}, kept().row_range(n, 1), kept().row_range(0, n + 1),
                          {kernel.view().row(n), 1, n + 1, kernel.cols}));
    diagonal.data[std::size_t(n)] = kernel.view()(n, n);
  }

  Matrix<float> h;
  Matrix<std::uint8_t> bytes;
  Matrix<float> kernel, diagonal;
};

// What the dense form keeps, and times of its operations.
struct Sums {
  Sums(const Rows& photos, int class_count)
      : samples(photos.rows.rows),
        gram(photos.signs.cols, photos.signs.cols),
        diagonal(1, photos.signs.cols),
        sums(class_count, photos.signs.cols),
        base(class_count, photos.signs.cols) {
    photos.in_batches([&](int first, MatrixView<const float> part) {
      must(kOps.gram_update(Stream{}, part, 1.0f, view()));
      must(kOps.class_sums(Stream{}, part, {photos.classes.data() + first, 1, part.rows, part.rows},
                           1.0f, sums.view()));
    });
  }
  GramView view() { return {gram.data.data(), diagonal.data.data(), gram.rows, gram.cols}; }

  // The best of some turns; the factor and base are of the lambda that was chosen.
  void measure(int turns) {
    const double trace = std::accumulate(diagonal.data.begin(), diagonal.data.end(), 0.0);
    const auto lambda = float(0.1 * trace / samples);
    const auto solve_for_base = [&] {
      base.data = sums.data;
      must(kOps.cholesky_solve(Stream{}, view(), base.view()));
    };
    for (int turn = 0; turn < turns; ++turn) {
      factor = std::min(
          factor, best_seconds(1, 1, [&] { must(kOps.cholesky(Stream{}, lambda, {}, view())); }));
      solve = std::min(solve, best_seconds(1, 1, [&] {
                         must(kOps.cholesky(Stream{}, lambda, {}, view()));
                         solve_for_base();
                       }));
      choose =
          std::min(choose, best_seconds(1, 1, [&] {
                     const double largest = largest_eigenvalue(
                         view(), std::vector<float>(std::size_t(gram.rows), 1.0f));
                     choice = must(choose_by_gcv({kOps, view(), sums.read(), samples, largest}));
                     if (!choice.factored) {
                       must(kOps.cholesky(Stream{}, float(choice.lambda), {}, view()));
                     }
                     solve_for_base();
                   }));
    }
  }

  int samples;
  Matrix<float> gram, diagonal, sums, base;
  double factor = std::numeric_limits<double>::infinity(), solve = factor, choose = factor;
  LambdaChoice choice;
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

void choose_line(const Settings& settings, const char* what, const Sums& sums) {
  line(settings, what, sums.choose, "s", sums.choose / sums.factor, "<= 3",
       sums.choose <= 3 * sums.factor);
}

// About as many samples as hidden units, where what G leaves empty is hard to tell from what is small.
void run_near_square(const Settings& settings) {
  for (const int hidden : {settings.hidden, settings.hidden * 3 / 10}) {
    Sums sums(Rows(hidden * 9 / 10, hidden, settings.classes), settings.classes);
    sums.measure(settings.turns);
    const std::string what = "dense: the same with M " + std::to_string(hidden) + ", N 0.9 M";
    choose_line(settings, what.c_str(), sums);
  }
}

// The same of a whole learner: the sample into its memory, and a readout beside the one that answers.
void run_learner(const Settings& settings) {
  constexpr int kTurns = 50;
  const Photos photos(settings);
  const int before = settings.samples - kTurns;
  Learner learner = must(Learner::create(config_of(settings, true)));
  must(learner.learn(photos.x.read().row_range(0, before),
                     std::span(photos.labels).first(std::size_t(before))));
  must(learner.end_task().status());
  Matrix<float> scores(1, settings.classes);
  double classify = std::numeric_limits<double>::infinity(), instant = classify;
  for (int turn = before; turn < settings.samples; ++turn) {
    const MatrixView<const float> frame = photos.x.read().row_range(turn, 1);
    classify = std::min(classify, best_seconds(1, 1, [&] {
                          must(learner.score(frame, *learner.readout(), scores.view()));
                        }));
    instant = std::min(
        instant, best_seconds(1, 1, [&] {
          must(learner.learn(frame, std::span(photos.labels).subspan(std::size_t(turn), 1)));
          must(learner.refresh().status());
        }));
  }
  line(settings, "a whole learner: classify one frame", 1e3 * classify, "ms", 1.0, "", true);
  line(settings, "a whole learner: learn one sample at once (times classify)", 1e3 * instant, "ms",
       instant / classify, "<= 20", instant <= 20 * classify);
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
              kInputs, thread_count(), thread_count() > 1 ? "wall time" : "CPU time",
              settings.turns);
  std::printf("%-58s %14s %9s\n", "", "", "ratio");
  Learned x(settings);
  LambdaChoice choice;
  Matrix<float> readout(classes, hidden);
  double factored = factored_end(settings, x, choice, readout);

  const double part = LeaveOneOut::part_of(samples);
  const double bytes = double(samples) * (kInputs + hidden + 4.0 * samples) +
                       4.0 * (samples + part) * (classes + 1.0 + LeaveOneOut::kScratchColumns) +
                       4.0 * part * part + 8.0 * classes * hidden;
  line(settings, "factored: rows, kernel, solve and two readouts (MB, of 60)", 1e-6 * bytes, "MB",
       60e6 / bytes, ">= 1", bytes < 60e6);

  // One frame, and one sample learned at once (the last one, again and again), in turns: as when a
  // camera runs, neither finds what it needs in the cache.
  Matrix<float> h(1, hidden), scores(1, classes);
  LeaveOneOut before(kOps, x.view(samples - 1),
                     std::span(x.classes).first(std::size_t(samples - 1)), classes);
  ENGRAM_CHECK(std::isfinite(before.loss(choice.lambda)));
  const ScoreBlend plain;
  double classify = std::numeric_limits<double>::infinity(), instant = classify;
  for (int turn = 0; turn < 50; ++turn) {
    classify = std::min(classify, best_seconds(1, 1, [&] {
                          x.project(x.rows.read().row_range(0, 1), h.view());
                          must(kOps.score(Stream{}, h.read(), readout.read(), scores.view()));
                        }));
    instant = std::min(instant, best_seconds(1, 1, [&] {
                         x.project(x.rows.read().row_range(samples - 1, 1), h.view());
                         x.fill_row(samples - 1);
                         const InstantKernel problem{kOps, choice.lambda, x.view(samples),
                                                     samples - 1, [&](auto weights, auto sums) {
                                                       return kOps.combine_rows(Stream{}, weights,
                                                                                x.kept(), sums);
                                                     }};
                         must(learn_at_once(problem, h.read(), std::span(x.classes).last(1),
                                            {readout.read(), plain, readout.view(), plain}));
                       }));
  }
  line(settings, "classify one frame without a backbone", 1e3 * classify, "ms", 1.0, "", true);
  line(settings, "factored: learn one sample at once (times classify)", 1e3 * instant, "ms",
       instant / classify, "<= 20", instant <= 20 * classify);

  Sums dense(x, classes);
  dense.measure(settings.turns);
  // Once more: a busy machine must not disturb the short measurement more than the long one.
  factored = std::min(factored, factored_end(settings, x, choice, readout));
  line(settings, "dense: one Cholesky factorisation", dense.factor, "s", 1.0, "", true);
  choose_line(settings, "dense: choose lambda and solve (Cholesky factorisations)", dense);
  line(settings, "factored: choose lambda and solve (times faster than dense)", factored, "s",
       dense.choose / factored, ">= 30", dense.choose >= 30 * factored);

  Matrix<float> next(classes, hidden);
  const double woodbury = best_seconds(settings.turns + 1, 1, [&] {
    Woodbury pending(kOps, hidden);
    must(pending.add(dense.view(), x.h.read().row_range(0, 16), std::span(x.classes).first(16)));
    must(pending.solve(dense.base.read(), next.view()));
  });
  line(settings, "dense: learn 16 samples at once (% of a full solve)", woodbury, "s",
       100 * woodbury / dense.solve, "<= 5", woodbury <= 0.05 * dense.solve);
  std::printf("lambda: leave-one-out %.4g after %zu losses, GCV %.4g\n", choice.lambda,
              choice.candidates.size(), dense.choice.lambda);
}

}  // namespace
}  // namespace engram::bench

int main(int argc, char* argv[]) {
  engram::bench::Settings settings;
  if (!engram::bench::read_settings("bench_learner", argc, argv, settings)) return 64;
  engram::bench::run_learner(settings);
  engram::bench::run(settings);
  engram::bench::run_near_square(settings);
  return engram::bench::finish(settings, engram::bench::missed);
}
