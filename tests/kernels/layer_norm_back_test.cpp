// layer_norm_back: against differences of layer_norm's definition in double.
#include "kernels/layer_norm_back.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;
using test::writes;

constexpr double kEpsilon = 1e-6;

struct Moments {
  double mean, scale;
};
Moments moments(const std::vector<double>& x) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / double(x.size());
  for (const double value : x) variance += (value - mean) * (value - mean) / double(x.size());
  return {mean, 1 / std::sqrt(variance + kEpsilon)};
}

struct Case {
  Case(int rows, int cols)
      : x(test::random_matrix(rows, cols, 1, 0.5f, 2.0f)),
        weight(test::random_matrix(1, cols, 2, 1.0f)),
        dy(test::random_matrix(rows, cols, 3)),
        before(test::random_matrix(rows, cols, 4)),
        stats(rows, 2) {
    for (int r = 0; r < rows; ++r) {
      const Moments m = moments(row(r));
      stats(r, 0) = float(m.mean);
      stats(r, 1) = float(m.scale);
    }
  }
  std::vector<double> row(int r) const { return test::in_double(x.read().row_range(r, 1)); }

  // d sum over c of dy[r,c] y[r,c] / d x[r]
  std::vector<double> wanted(int r) const {
    return test::gradient_by_differences(row(r), [&](const std::vector<double>& values) {
      const Moments m = moments(values);
      double sum = 0;
      for (int c = 0; c < x.cols(); ++c) {
        sum += dy(r, c) * ((values[std::size_t(c)] - m.mean) * m.scale * weight(0, c));
      }
      return sum;
    });
  }
  int wrong(bool add, const GuardedMatrix<float>& dx) const {
    int count = 0;
    for (int r = 0; r < x.rows(); ++r) {
      const std::vector<double> gradient = wanted(r);
      for (int c = 0; c < x.cols(); ++c) {
        const double all = gradient[std::size_t(c)] + (add ? before(r, c) : 0.0f);
        count += !(std::fabs(dx(r, c) - all) <= 3e-6 * (1 + std::fabs(all) + stats(r, 1)));
      }
    }
    return count;
  }

  GuardedMatrix<float> x, weight, dy, before, stats;
};

}  // namespace

TEST_CASE("layer_norm_back: equals differences of the definition", "[kernels][layer_norm_back]") {
  const int rows = GENERATE(0, 1, 4, 5);
  const int cols = GENERATE(2, 15, 17, 31, 32, 33, 127, 128, 129);
  const bool add = GENERATE(false, true);
  const Case c(rows, cols);
  for (const Backend& backend : test::backends(&Kernels::layer_norm_back)) {
    CAPTURE(rows, cols, add, backend.name);
    GuardedMatrix<float> dx(rows, cols);
    if (add) dx = c.before;
    REQUIRE(test::run(backend, &Kernels::layer_norm_back, reads(c.dy), reads(c.x), reads(c.weight),
                      reads(c.stats), add, add ? updates(dx) : writes(dx))
                .ok());
    REQUIRE(c.wrong(add, dx) == 0);
    REQUIRE(dx.untouched());
  }
}

TEST_CASE("layer_norm_back: one column has no gradient", "[kernels][layer_norm_back]") {
  for (const Backend& backend : test::backends(&Kernels::layer_norm_back)) {
    const Case c(2, 1);
    GuardedMatrix<float> dx(2, 1);
    REQUIRE(test::run(backend, &Kernels::layer_norm_back, reads(c.dy), reads(c.x), reads(c.weight),
                      reads(c.stats), false, writes(dx))
                .ok());
    for (int r = 0; r < 2; ++r) {  // but for rounding
      CHECK(std::fabs(dx(r, 0)) <= 1e-6f * c.stats(r, 1) * std::fabs(c.dy(r, 0) * c.weight(0, 0)));
    }
  }
}

TEST_CASE("layer_norm_back: in place, and the same bits for every number of threads",
          "[kernels][layer_norm_back]") {
  if (simt::hooks().allocated) return;  // the CPU's
  const Case c(150, 131);
  const auto run = [&](int threads, MatrixView<const float> dy, MatrixView<float> dx) {
    const test::ThreadCount with(threads);
    return cpu::layer_norm_back(Stream{}, dy, c.x.read(), c.weight.read(), c.stats.read(), false,
                                dx);
  };
  GuardedMatrix<float> dx(150, 131), in_place = c.dy;
  REQUIRE(run(1, c.dy.read(), dx.view()).ok());
  CHECK(c.wrong(false, dx) == 0);
  REQUIRE(run(2, in_place.read(), in_place.view()).ok());
  CHECK(in_place == dx);
}

}  // namespace engram
