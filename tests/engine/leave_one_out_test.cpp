// Leave-one-out against really leaving each sample out, in double; the search against a full grid.
#include "engine/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_case.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::close;
using test::KernelCase;
using test::make_samples;
using test::Table;

// Scores (N, K) of each sample by the ridge regression on all others.
Table defined_scores(const KernelCase& given, int classes, double lambda) {
  KernelCase x = given;
  Table scores;
  for (int out = 0; out < x.size; ++out) {
    Table a, b;
    for (int r = 0; r < x.size; ++r) {
      if (r == out) continue;
      a.emplace_back();
      b.emplace_back(std::size_t(classes));
      b.back()[std::size_t(x.classes[std::size_t(r)])] = 1.0;
      for (int c = 0; c < x.size; ++c) {
        if (c != out) a.back().push_back(x.view().gram(r, c) + (r == c ? lambda : 0.0));
      }
    }
    const Table dual = a.empty() ? Table{} : test::solve(a, b);
    scores.emplace_back(std::size_t(classes));
    for (int r = 0, i = 0; r < x.size; ++r) {
      if (r == out) continue;
      for (int k = 0; k < classes; ++k) {
        scores.back()[std::size_t(k)] +=
            x.view().gram(out, r) * dual[std::size_t(i)][std::size_t(k)];
      }
      ++i;
    }
  }
  return scores;
}

double defined_loss(const KernelCase& x, int classes, double lambda) {
  const Table scores = defined_scores(x, classes, lambda);
  double sum = 0;
  for (int i = 0; i < x.size; ++i) {
    for (int k = 0; k < classes; ++k) {
      const double wanted = x.classes[std::size_t(i)] == k ? 1.0 : 0.0;
      sum += std::pow(scores[std::size_t(i)][std::size_t(k)] - wanted, 2);
    }
  }
  return sum / (double(x.size) * classes);
}

double mean_diagonal(const KernelCase& x) {
  return std::accumulate(x.diagonal.begin(), x.diagonal.end(), 0.0) / x.size;
}

LambdaChoice choose(KernelCase& x, int classes) {
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, classes);
  const LambdaChoice choice = choose_by_leave_one_out(problem);
  CHECK(choice.lambda > 0);
  CHECK(std::isfinite(choice.lambda));
  if (choice.factored) {
    for (int k = 0; k < classes; ++k) {
      for (int i = 0; i < x.size; ++i) CHECK(std::isfinite(problem.dual()(k, i)));
    }
  }
  return choice;
}

}  // namespace

TEST_CASE("leave-one-out: loss and scores equal their definition in double",
          "[engine][leave_one_out]") {
  const int per_class = GENERATE(1, 3, 12), units = GENERATE(20, 300);
  KernelCase x(make_samples(4, per_class, 12, 2, 1, 1.0), units);
  const KernelCase before = x;
  for (const double part : {1e-3, 0.1, 10.0}) {
    const double lambda = part * mean_diagonal(x);
    CAPTURE(per_class, units, part);
    LeaveOneOut problem(kCpuKernels, x.view(), x.classes, 4);
    CHECK(close(problem.loss(lambda), defined_loss(before, 4, lambda), 1e-3));
    std::vector<float> scores(std::size_t(x.size) * 4);
    problem.scores({scores.data(), x.size, 4, 4});
    const Table wanted = defined_scores(before, 4, lambda);
    for (int i = 0; i < x.size; ++i) {
      for (int k = 0; k < 4; ++k) {
        CHECK(close(scores[std::size_t(4 * i + k)], wanted[std::size_t(i)][std::size_t(k)], 1e-3,
                    1e-3));
      }
    }
  }
  for (int r = 0; r < x.size; ++r) {  // the kernel is kept
    for (int c = 0; c <= r; ++c) {
      KernelCase was = before;
      REQUIRE(x.view().gram(r, c) == was.view().gram(r, c));
    }
  }
}

TEST_CASE("leave-one-out: the choice is the best of a fine grid", "[engine][leave_one_out]") {
  const int per_class = GENERATE(2, 3, 10), units = GENERATE(15, 60, 400);
  const double noise = GENERATE(0.3, 1.5);
  CAPTURE(per_class, units, noise);
  KernelCase x(make_samples(5, per_class, 12, 3, 1, noise), units);
  const KernelCase before = x;
  const LambdaChoice choice = choose(x, 5);
  CHECK(choice.factored);
  CHECK(choice.note.empty());
  double best = INFINITY;
  for (double part = 1.2e-4; part < 9.0 * x.size; part *= 1.3) {
    best = std::min(best, defined_loss(before, 5, part * mean_diagonal(x)));
  }
  CHECK(defined_loss(before, 5, choice.lambda) < best * 1.001);
  CHECK(std::is_sorted(choice.candidates.begin(), choice.candidates.end()));
  CHECK(choice.candidates.size() == choice.losses.size());
}

TEST_CASE("leave-one-out: many samples take few evaluations and end as good",
          "[engine][leave_one_out]") {
  const double noise = GENERATE(0.6, 1.5);
  const int units = GENERATE(100, 900);
  CAPTURE(noise, units);
  KernelCase x(make_samples(6, 120, 16, 3, 1, noise), units);
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, 6);
  const LambdaChoice choice = choose_by_leave_one_out(problem);
  CHECK(choice.factored);
  CHECK(choice.candidates.size() <= 6);
  const double loss = problem.loss(choice.lambda);
  double best = loss;
  for (double part = 1e-2; part < 1e3; part *= 2) {
    const double other = problem.loss(part * mean_diagonal(x));
    if (other < best) best = other;
  }
  CHECK(loss < best * 1.001);
}

TEST_CASE("leave-one-out: the slope is that of the loss", "[engine][leave_one_out]") {
  const int units = GENERATE(60, 500);
  const double noise = GENERATE(0.5, 1.5);
  KernelCase x(make_samples(6, 50, 16, 3, 1, noise), units);
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, 6);
  for (const double part : {1e-2, 0.1, 1.0, 10.0}) {
    const double lambda = part * mean_diagonal(x), aside = 0.02;
    const double rise =
        std::log(problem.loss(lambda * std::exp(aside)) / problem.loss(lambda * std::exp(-aside)));
    CHECK(std::isfinite(problem.loss(lambda)));
    CAPTURE(units, noise, part);
    CHECK(std::abs(problem.slope() - rise / (2 * aside)) < 0.02);  // it is estimated
  }
}

TEST_CASE(
    "leave-one-out: the slope does not depend on the order of samples, nor do doubles disturb it",
    "[engine][leave_one_out]") {
  KernelCase x(make_samples(5, 40, 12, 4, 1, 1.0), 80);
  const bool doubles = GENERATE(false, true);
  for (int i = 0; doubles && i < x.size; i += 2) std::copy_n(x.row(i), x.units, x.row(i + 1));
  x.fill_kernel();
  const double lambda = 0.1 * mean_diagonal(x), aside = 0.02;
  const auto slope_of = [&](KernelCase& of) {
    LeaveOneOut problem(kCpuKernels, of.view(), of.classes, 5);
    CHECK(std::isfinite(problem.loss(lambda)));
    return problem.slope();
  };
  const double slope = slope_of(x);
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, 5);
  const double rise =
      std::log(problem.loss(lambda * std::exp(aside)) / problem.loss(lambda * std::exp(-aside)));
  CHECK(std::abs(slope - rise / (2 * aside)) < 0.03);
  std::vector<int> order(std::size_t(x.size));
  std::iota(order.rbegin(), order.rend(), 0);
  KernelCase other = x.reordered(order);
  CHECK(close(slope_of(other), slope, 1e-3, 1e-4));
}

TEST_CASE("leave-one-out: order of samples and of classes does not matter",
          "[engine][leave_one_out]") {
  const int per_class = GENERATE(6, 150);
  KernelCase x(make_samples(5, per_class, 12, 4, 1, 1.0), 80);
  const double chosen = choose(x, 5).lambda;
  std::mt19937 random(1);
  for (int trial = 0; trial < 3; ++trial) {
    std::vector<int> order(std::size_t(x.size));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random() % (i + 1)]);
    KernelCase other = x.reordered(order);
    for (std::int32_t& label : other.classes) label = (label + 1 + trial) % 5;
    CHECK(choose(other, 5).lambda == chosen);
  }
}

TEST_CASE("leave-one-out: more classes than a part of the samples has room for",
          "[engine][leave_one_out]") {
  constexpr int kClasses = 1100;
  static_assert(kClasses >= LeaveOneOut::kManySamples);
  const int per_class = GENERATE(1, 2);  // no smaller part; a part that has no smaller one
  KernelCase x(make_samples(kClasses, per_class, 6), 20);
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, kClasses);
  const LambdaChoice choice = choose_by_leave_one_out(problem);
  CHECK(choice.factored);
  CHECK(choice.note.empty());
  CHECK(choice.lambda > 0);
  // None is made of the samples when there is no smaller one.
  CHECK(LeaveOneOut::parts_of(per_class * kClasses, kClasses) == (per_class - 1) * kClasses);
}

TEST_CASE("leave-one-out: a scale of h is a scale of lambda", "[engine][leave_one_out]") {
  KernelCase x(make_samples(4, 8, 12, 4, 1, 1.0), 60);
  const double chosen = choose(x, 4).lambda;
  for (const double scale : {1e-10, 1e-4, 1e4, 1e10}) {
    KernelCase other = x;
    for (float& value : other.h) value = float(value * scale);
    other.fill_kernel();
    CAPTURE(scale);
    CHECK(close(choose(other, 4).lambda, chosen * scale * scale, 0.13));  // one step of the grid
  }
}

TEST_CASE("leave-one-out: where there is nothing to choose, a defined lambda and a note",
          "[engine][leave_one_out]") {
  KernelCase none(make_samples(1, 0, 12), 10), one(make_samples(1, 1, 12), 10);
  CHECK(test::says(choose(none, 0).note, "Nothing was learned"));
  const LambdaChoice single = choose(one, 1);
  CHECK(test::says(single.note, "One sample"));
  CHECK(single.factored);
  CHECK(close(single.lambda, one.diagonal[0]));

  KernelCase zeros(make_samples(3, 4, 12), 10);
  std::fill(zeros.h.begin(), zeros.h.end(), 0.0f);
  zeros.fill_kernel();
  CHECK(test::says(choose(zeros, 3).note, "zero"));

  KernelCase tiny(make_samples(3, 4, 12), 10), huge(make_samples(3, 4, 12), 10);
  for (float& value : tiny.h) value *= 1e-30f;
  for (float& value : huge.h) value *= 1e30f;
  tiny.fill_kernel();
  huge.fill_kernel();
  CHECK(test::says(choose(tiny, 3).note, "zero"));
  CHECK(test::says(choose(huge, 3).note, "too large"));
}

TEST_CASE("leave-one-out: one class, duplicates and zeros among others have a choice",
          "[engine][leave_one_out]") {
  KernelCase single(make_samples(1, 20, 12), 40);
  CHECK(choose(single, 1).factored);

  KernelCase twins(make_samples(4, 10, 12, 1, 1, 1.0), 40);
  for (int i = 0; i < twins.size; ++i) std::copy_n(twins.row(i / 5 * 5), twins.units, twins.row(i));
  twins.fill_kernel();
  CHECK(choose(twins, 4).factored);

  KernelCase holes(make_samples(4, 10, 12, 1, 1, 1.0), 40);
  for (int i = 0; i < holes.size; i += 3) std::fill_n(holes.row(i), holes.units, 0.0f);
  holes.fill_kernel();
  CHECK(choose(holes, 4).factored);

  for (const float scale : {1e-18f, 1e-15f, 1e15f, 1e17f}) {  // near the ends of float
    KernelCase x(make_samples(3, 4, 12), 40);
    for (float& value : x.h) value *= scale;
    x.fill_kernel();
    const LambdaChoice choice = choose(x, 3);
    CAPTURE(scale, choice.note);
    CHECK((choice.factored || !choice.note.empty()));
  }
}

TEST_CASE("leave-one-out: gcv on the kernel equals its definition", "[engine][leave_one_out]") {
  KernelCase x(make_samples(4, 8, 12, 2, 1, 1.0), 60);
  KernelCase before = x;
  LeaveOneOut problem(kCpuKernels, x.view(), x.classes, 4);
  const LambdaChoice choice = choose_by_kernel_gcv(problem);
  REQUIRE(choice.factored);
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const double lambda = choice.candidates[i];
    Table a, b;
    for (int r = 0; r < x.size; ++r) {
      a.emplace_back();
      b.emplace_back(std::size_t(4 + x.size));
      b.back()[std::size_t(x.classes[std::size_t(r)])] = 1.0;
      b.back()[std::size_t(4 + r)] = 1.0;
      for (int c = 0; c < x.size; ++c) {
        a.back().push_back(before.view().gram(r, c) + (r == c ? lambda : 0.0));
      }
    }
    const Table inverse = test::solve(a, b);
    double rss = 0, residual_df = 0;  // RSS = lambda^2 |A|^2, N - df = lambda tr(inverse)
    for (int r = 0; r < x.size; ++r) {
      for (int k = 0; k < 4; ++k) rss += std::pow(lambda * inverse[std::size_t(r)][k], 2);
      residual_df += lambda * inverse[std::size_t(r)][std::size_t(4 + r)];
    }
    const double left = 1.0 - 1.05 * (1.0 - residual_df / x.size);
    if (std::isnan(choice.losses[i])) {
      CHECK(left < 1e-3);
    } else {
      CHECK(close(choice.losses[i], rss / x.size / (left * left) / 4, 1e-3));
    }
  }
}

}  // namespace engram
