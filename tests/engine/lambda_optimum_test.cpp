// The lambdas that searches find against brute force: the losses by definition in double, over a fine
// grid, on made-up data of several kinds. In either form the loss found is within 1e-3 of the smallest.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/gcv.h"
#include "engine/leave_one_out.h"
#include "kernels/kernels.h"
#include "platform/blas.h"
#include "tests/support/catch.h"
#include "tests/support/dense_case.h"
#include "tests/support/kernel_case.h"

namespace engram {
namespace {

using test::DenseCase;
using test::KernelCase;
using test::make_samples;

struct Losses {
  double loo, gcv;
};

// By the inverse B of H HT + lambda I in double: A = B Y, RSS = lambda^2 |A|^2, N - df = lambda tr B.
Losses defined(KernelCase& x, int classes, double lambda) {
  const int n = x.size;
  const auto size = std::size_t(n);
  std::vector<double> b(size * size);
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c <= r; ++c) b[size * std::size_t(r) + std::size_t(c)] = x.view().gram(r, c);
    b[size * std::size_t(r) + std::size_t(r)] += lambda;
  }
  int info = 0;
  dpotrf_("U", &n, b.data(), &n, &info);
  REQUIRE(info == 0);
  dpotri_("U", &n, b.data(), &n, &info);
  REQUIRE(info == 0);
  std::vector<double> a(size * std::size_t(classes));
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      const std::size_t at = size * std::size_t(std::max(r, c)) + std::size_t(std::min(r, c));
      a[std::size_t(r * classes + x.classes[std::size_t(c)])] += b[at];
    }
  }
  double left_out = 0, rss = 0, trace = 0;
  for (int r = 0; r < n; ++r) {
    const double own = b[size * std::size_t(r) + std::size_t(r)];
    trace += own;
    for (int k = 0; k < classes; ++k) {
      const double dual = a[std::size_t(r * classes + k)];
      left_out += dual / own * dual / own;
      rss += lambda * lambda * dual * dual;
    }
  }
  const double entries = double(n) * classes;
  const double left = 1.0 - kFreedomWeight * (1.0 - lambda * trace / n);
  return {left_out / entries, left > 0 ? rss / entries / (left * left) : INFINITY};
}

// The smallest of each: by quarters of a decade, then by eightieths around the best one.
Losses brute_force(KernelCase& x, int classes) {
  double mean = 0;
  for (const float value : x.diagonal) mean += value / x.size;
  Losses best{INFINITY, INFINITY}, where{};
  const auto attempt = [&](double power) {
    const Losses losses = defined(x, classes, mean * std::pow(10.0, power));
    if (losses.loo < best.loo) best.loo = losses.loo, where.loo = power;
    if (losses.gcv < best.gcv) best.gcv = losses.gcv, where.gcv = power;
  };
  for (double power = -2.75; power < 1.6; power += 0.25) attempt(power);
  for (const double middle : {where.loo, where.gcv}) {
    for (int step = -14; step <= 14; step += 2) attempt(middle + step / 80.0);
  }
  return best;
}

struct Kind {
  int classes, per_class, width;
  double noise;
  int units;  // N / M from 0.3 to 1.5
};

}  // namespace

TEST_CASE("lambda: what is found is within 1e-3 of brute force, in both forms",
          "[engine][gcv][leave_one_out]") {
  const Kind kind =
      GENERATE(Kind{20, 27, 24, 1.0, 600}, Kind{6, 95, 40, 2.5, 640}, Kind{10, 60, 30, 1.5, 400},
               Kind{40, 7, 30, 0.7, 900}, Kind{3, 90, 16, 1.5, 540}, Kind{12, 20, 24, 1.2, 300},
               Kind{6, 86, 24, 1.2, 520}, Kind{6, 110, 24, 1.2, 520});
  KernelCase x(make_samples(kind.classes, kind.per_class, kind.width, 5, 1, kind.noise),
               kind.units);
  CAPTURE(kind.classes, x.size, kind.units);
  const Losses best = brute_force(x, kind.classes);

  DenseCase dense(x, kind.classes);
  const Result<LambdaChoice> sums = choose_by_gcv(dense.problem());
  REQUIRE(sums.ok());
  CHECK(defined(x, kind.classes, sums->lambda).gcv < best.gcv * 1.001);

  KernelCase other = x;
  LeaveOneOut kernel(kCpuKernels, other.view(), other.classes, kind.classes);
  CHECK(defined(x, kind.classes, choose_by_kernel_gcv(kernel).lambda).gcv < best.gcv * 1.001);
  CHECK(defined(x, kind.classes, choose_by_leave_one_out(kernel).lambda).loo < best.loo * 1.001);
}

}  // namespace engram
