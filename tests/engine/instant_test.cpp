// Learning at once, in both forms, against a full solve of everything in double.
#include <algorithm>
#include <cmath>
#include <new>
#include <random>
#include <vector>

#include "engine/instant_kernel.h"
#include "engine/woodbury.h"
#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_case.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::KernelCase;
using test::make_samples;
using test::Table;

std::vector<int> shuffled(int count) {
  std::mt19937 random(1);
  std::vector<int> order;
  for (int i = 0; i < count; ++i) order.insert(order.begin() + random() % (order.size() + 1), i);
  return order;
}

// Scores (N, K) of all of `x` by the readout learned from its first `learned` samples, in double.
Table defined_scores(KernelCase x, int learned, int classes, double lambda) {
  Table a, b;
  for (int r = 0; r < learned; ++r) {
    a.emplace_back();
    b.emplace_back(std::size_t(classes));
    b.back()[std::size_t(x.classes[std::size_t(r)])] = 1.0;
    for (int c = 0; c < learned; ++c) {
      a.back().push_back(x.view().gram(r, c) + (r == c ? lambda : 0.0));
    }
  }
  const Table dual = test::solve(a, b);
  Table scores(std::size_t(x.size), std::vector<double>(std::size_t(classes)));
  for (int i = 0; i < x.size; ++i) {
    for (int r = 0; r < learned; ++r) {
      for (std::size_t k = 0; k < std::size_t(classes); ++k) {
        scores[std::size_t(i)][k] += x.view().gram(i, r) * dual[std::size_t(r)][k];
      }
    }
  }
  return scores;
}

double worst_difference(const KernelCase& x, const std::vector<float>& readout,
                        const Table& wanted) {
  test::Worst worst;
  for (int i = 0; i < x.size; ++i) {
    for (std::size_t k = 0; k < wanted[0].size(); ++k) {
      double score = 0;
      for (int m = 0; m < x.units; ++m) {
        score += double(x.row(i)[m]) * readout[k * std::size_t(x.units) + std::size_t(m)];
      }
      worst.see(std::abs(score - wanted[std::size_t(i)][k]));
    }
  }
  return worst.value();
}

double mean_diagonal(const KernelCase& x) {
  double sum = 0;
  for (const float value : x.diagonal) sum += value;
  return sum / x.size;
}

// sums += weights H, in the order a kernel would.
auto combine_of(const KernelCase& x) {
  return [&x](MatrixView<const float> weights, MatrixView<float> sums) {
    for (int r = 0; r < weights.rows; ++r)
      for (int n = 0; n < weights.cols; ++n)
        for (int m = 0; m < sums.cols; ++m) sums(r, m) += weights(r, n) * x.row(n)[m];
    return Status();
  };
}

GramView leading(KernelCase& x, int size) {
  GramView view = x.view();
  view.size = size;
  return view;
}

// A readout of ridge alone that becomes the next one.
InstantReadout in_place(MatrixView<float> weights) {
  static const ScoreBlend plain;
  return {weights, plain, weights, plain};
}

}  // namespace

TEST_CASE("instant: the factored form equals a full solve", "[engine][instant]") {
  const int batch = GENERATE(1, 3, 32), units = GENERATE(60, 400);
  const double part = GENERATE(1e-2, 0.1, 10.0);
  CAPTURE(batch, units, part);
  KernelCase x = KernelCase(make_samples(6, 20, 12, 3, 1, 1.0), units).reordered(shuffled(120));
  const double lambda = part * mean_diagonal(x);
  constexpr int kClasses = 6;
  std::vector<float> readout(std::size_t(kClasses) * std::size_t(units));
  const MatrixView<float> weights{readout.data(), kClasses, units, units};
  for (int known = 0; known < x.size;) {
    const int size = std::min(known + batch, x.size);
    const InstantKernel problem{kCpuKernels, lambda, leading(x, size), known, combine_of(x)};
    REQUIRE(
        learn_at_once(problem, x.hidden().row_range(known, size - known),
                      std::span(x.classes).subspan(std::size_t(known), std::size_t(size - known)),
                      in_place(weights))
            .ok());
    known = size;
    if (known == 96 || known == x.size) {
      CHECK(worst_difference(x, readout, defined_scores(x, known, kClasses, lambda)) < 1e-4);
    }
  }
}

TEST_CASE("instant: at a small lambda no worse than a full solve in float", "[engine][instant]") {
  const int batch = GENERATE(1, 32);
  KernelCase x = KernelCase(make_samples(6, 20, 12, 3, 1, 1.0), 400).reordered(shuffled(120));
  KernelCase y = x;
  const double lambda = 1e-4 * mean_diagonal(x);
  const Table wanted = defined_scores(x, x.size, 6, lambda);
  std::vector<float> dual(std::size_t(6 * x.size)), solved(6 * 400), readout(6 * 400);
  for (int i = 0; i < x.size; ++i) dual[std::size_t(x.classes[std::size_t(i)] * x.size + i)] = 1.0f;
  const MatrixView<float> a{dual.data(), 6, x.size, x.size};
  REQUIRE(kCpuKernels.cholesky(Stream{}, float(lambda), {}, y.view()).ok());
  REQUIRE(kCpuKernels.cholesky_solve(Stream{}, y.view(), a).ok());
  REQUIRE(combine_of(x)(a, {solved.data(), 6, 400, 400}).ok());
  for (int known = 0; known < x.size;) {
    const int size = std::min(known + batch, x.size);
    const auto classes =
        std::span(x.classes).subspan(std::size_t(known), std::size_t(size - known));
    const InstantKernel problem{kCpuKernels, lambda, leading(x, size), known, combine_of(x)};
    REQUIRE(learn_at_once(problem, x.hidden().row_range(known, size - known), classes,
                          in_place({readout.data(), 6, 400, 400}))
                .ok());
    known = size;
  }
  const double in_float = worst_difference(x, solved, wanted);
  CHECK(std::isfinite(in_float));  // or the next line would say nothing
  CHECK(worst_difference(x, readout, wanted) < 2 * in_float);
}

TEST_CASE("instant: rows that are scaled, and classes that are new", "[engine][instant]") {
  const int batch = GENERATE(0, 1, 3, 20);  // none; in one pass; by combine_rows
  constexpr int kUnits = 60, kKnown = 90, kOld = 5;
  KernelCase x(make_samples(6, 20, 12, 3, 1, 1.0), kUnits);  // class by class: 4 and 5 come last
  const double lambda = 0.1 * mean_diagonal(x);
  const ScoreBlend blend{{1.5f, 0.5f, 2.0f, 3.0f, 0.25f}, 0},
      next{{0.75f, 2.0f, 1.25f, 0.5f, 4.0f, 3.0f}, 0};
  std::vector<float> plain(6 * kUnits);
  const MatrixView<float> ridge{plain.data(), 6, kUnits, kUnits};
  REQUIRE(learn_at_once({kCpuKernels, lambda, leading(x, kKnown), 0, combine_of(x)},
                        x.hidden().row_range(0, kKnown), std::span(x.classes).first(kKnown),
                        in_place(ridge))
              .ok());
  std::vector<float> before(plain.begin(), plain.begin() + kOld * kUnits);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] *= blend.ridge[i / kUnits];
  const std::vector<float> untouched = before;
  std::vector<float> after(plain.size(), 7.0f);
  KernelCase twin = x;
  const auto learn = [&](KernelCase& on, const InstantReadout& readout) {
    return learn_at_once({kCpuKernels, lambda, leading(on, kKnown + batch), kKnown, combine_of(on)},
                         on.hidden().row_range(kKnown, batch),
                         std::span(on.classes).subspan(kKnown, std::size_t(batch)), readout);
  };
  REQUIRE(
      learn(twin,
            {{before.data(), kOld, kUnits, kUnits}, blend, {after.data(), 6, kUnits, kUnits}, next})
          .ok());
  REQUIRE(learn(x, in_place(ridge)).ok());
  CHECK(before == untouched);
  for (std::size_t i = 0; i < after.size(); ++i) {
    CHECK(test::close(after[i], plain[i] * next.ridge[i / kUnits], 1e-3, 1e-7));
  }
}

TEST_CASE("instant: a kernel without a factor changes nothing", "[engine][instant]") {
  KernelCase x(make_samples(2, 5, 12), 40);
  std::vector<float> readout(80, 1.0f);
  const InstantKernel first{kCpuKernels, 1.0, leading(x, 6), 0, combine_of(x)};
  REQUIRE(learn_at_once(first, x.hidden().row_range(0, 6), std::span(x.classes).first(6),
                        in_place({readout.data(), 2, 40, 40}))
              .ok());
  const std::vector<float> before = readout;
  x.diagonal[8] = -1.0f;
  const InstantKernel second{kCpuKernels, 1.0, x.view(), 6, combine_of(x)};
  CHECK(learn_at_once(second, x.hidden().row_range(6, 4), std::span(x.classes).subspan(6, 4),
                      in_place({readout.data(), 2, 40, 40}))
            .code() == Code::bad_data);
  CHECK(readout == before);
}

TEST_CASE("instant: the dense form equals a full solve", "[engine][instant]") {
  const int batch = GENERATE(1, 5, 32), units = GENERATE(60, 300);
  const double part = GENERATE(1e-2, 0.1, 10.0);
  CAPTURE(batch, units, part);
  KernelCase x = KernelCase(make_samples(6, 20, 12, 3, 1, 1.0), units).reordered(shuffled(120));
  const double lambda = part * mean_diagonal(x);
  constexpr int kSolved = 70, kOldClasses = 5;  // class 5 is new
  for (std::int32_t i = 0; i < kSolved; ++i) {
    if (x.classes[std::size_t(i)] == 5) x.classes[std::size_t(i)] = 0;
  }

  std::vector<float> data(std::size_t(units) * std::size_t(units)), diagonal(std::size_t(units), 0);
  const GramView gram{data.data(), diagonal.data(), units, units};
  std::vector<float> base(std::size_t(kOldClasses) * std::size_t(units));
  const MatrixView<float> sums{base.data(), kOldClasses, units, units};
  REQUIRE(kCpuKernels.gram_update(Stream{}, x.hidden().row_range(0, kSolved), 1.0f, gram).ok());
  REQUIRE(kCpuKernels
              .class_sums(Stream{}, x.hidden().row_range(0, kSolved),
                          {x.classes.data(), 1, kSolved, kSolved}, 1.0f, sums)
              .ok());
  REQUIRE(kCpuKernels.cholesky(Stream{}, float(lambda), {}, gram).ok());
  REQUIRE(kCpuKernels.cholesky_solve(Stream{}, gram, sums).ok());

  Woodbury woodbury(kCpuKernels, units);
  std::vector<float> readout(std::size_t(6 * units), NAN);
  const MatrixView<float> weights{readout.data(), 6, units, units};
  REQUIRE(woodbury.solve(sums, weights).ok());
  CHECK(std::equal(base.begin(), base.end(), readout.begin()));
  for (int known = kSolved; known < x.size;) {
    const int size = std::min(known + batch, x.size);
    REQUIRE(woodbury
                .add(gram, x.hidden().row_range(known, size - known),
                     std::span(x.classes).subspan(std::size_t(known), std::size_t(size - known)))
                .ok());
    known = size;
    CHECK(woodbury.pending() == known - kSolved);
    REQUIRE(woodbury.solve(sums, weights).ok());
    if (known == 75 || known == x.size) {
      CHECK(worst_difference(x, readout, defined_scores(x, known, 6, lambda)) < 1e-4);
    }
  }
  woodbury.clear();
  CHECK(woodbury.pending() == 0);
}

TEST_CASE("instant: rows that cannot be taken in leave the dense form as it was",
          "[engine][instant]") {
  constexpr int kUnits = 20;
  std::vector<float> data(kUnits * kUnits), diagonal(kUnits, 50.0f), h(2 * kUnits, 1.0f);
  const GramView gram{data.data(), diagonal.data(), kUnits, kUnits};
  REQUIRE(kCpuKernels.cholesky(Stream{}, 1.0f, {}, gram).ok());
  Kernels kernels = kCpuKernels;
  Woodbury woodbury(kernels, kUnits);
  const std::vector<std::int32_t> classes{0, 1};
  REQUIRE(woodbury.add(gram, {h.data(), 2, kUnits, kUnits}, classes).ok());
  const std::vector<float> base(2 * kUnits, 0.5f);
  std::vector<float> before(base.size()), after(base.size());
  REQUIRE(
      woodbury.solve({base.data(), 2, kUnits, kUnits}, {before.data(), 2, kUnits, kUnits}).ok());
  h[3] = INFINITY;
  CHECK(woodbury.add(gram, {h.data(), 1, kUnits, kUnits}, std::span(classes).first(1)).code() ==
        Code::bad_data);
  CHECK(woodbury.pending() == 2);
  h[3] = 1.0f;
  kernels.score = [](Stream, MatrixView<const float>, MatrixView<const float>,
                     MatrixView<float>) -> Status { throw std::bad_alloc(); };
  CHECK_THROWS_AS(
      woodbury.add(gram, {h.data(), 1, kUnits, kUnits}, std::span(classes).first(1)).ok(),
      std::bad_alloc);
  kernels.score = kCpuKernels.score;
  CHECK(woodbury.pending() == 2);
  REQUIRE(woodbury.solve({base.data(), 2, kUnits, kUnits}, {after.data(), 2, kUnits, kUnits}).ok());
  CHECK(after == before);
}

}  // namespace engram
