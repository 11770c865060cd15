// layer_norm: against the definition in double.
#include "kernels/layer_norm.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

constexpr float kEpsilon = 1e-6f;

struct Case {
  Case(int rows, int cols, float mean)
      : x(test::random_matrix(rows, cols, 1, mean, 2.0f)),
        weight(test::random_matrix(1, cols, 2, 1.0f)),
        bias(test::random_matrix(1, cols, 3)) {}

  int wrong(const GuardedMatrix<float>& y, const GuardedMatrix<float>& stats) const {
    int count = 0;
    for (int r = 0; r < x.rows(); ++r) {
      double mean = 0, variance = 0, size = 0;
      for (int c = 0; c < x.cols(); ++c) mean += double{x(r, c)} / x.cols();
      for (int c = 0; c < x.cols(); ++c) {
        variance += (x(r, c) - mean) * (x(r, c) - mean) / x.cols();
        size += std::fabs(x(r, c)) / x.cols();
      }
      const double scale = 1 / std::sqrt(variance + double{kEpsilon});
      count += !(std::fabs(stats(r, 0) - mean) <= 1e-6 * size);
      // The mean has been rounded: it costs so much of the deviation.
      const double lost = 1e-6 * (1 + size * scale);
      count += !(std::fabs(stats(r, 1) / scale - 1) <= lost);
      for (int c = 0; c < x.cols(); ++c) {
        const double normal = (x(r, c) - mean) * scale;
        const double wanted = normal * weight(0, c) + bias(0, c);
        const double allowed =
            lost * (1 + std::fabs(normal)) * std::fabs(weight(0, c)) + 1e-6 * std::fabs(wanted);
        count += !(std::fabs(y(r, c) - wanted) <= allowed);
      }
    }
    return count;
  }

  GuardedMatrix<float> x, weight, bias;
};

}  // namespace

TEST_CASE("layer_norm: equals the definition", "[kernels][layer_norm]") {
  const int rows = GENERATE(0, 1, 3, 4, 5);
  const int cols = GENERATE(1, 2, 15, 17, 31, 32, 33, 127, 128, 129, 384);
  const float mean = GENERATE(0.3f, 300.0f);
  const Case c(rows, cols, mean);
  for (const Backend& backend : test::backends(&Kernels::layer_norm)) {
    CAPTURE(rows, cols, mean, backend.name);
    GuardedMatrix<float> y(rows, cols), stats(rows, 2);
    REQUIRE(test::run(backend, &Kernels::layer_norm, reads(c.x), reads(c.weight), reads(c.bias),
                      kEpsilon, writes(y), writes(stats))
                .ok());
    REQUIRE(c.wrong(y, stats) == 0);
    REQUIRE(y.untouched());
    REQUIRE(stats.untouched());
  }
}

TEST_CASE("layer_norm: in place, and the same bits for every number of threads",
          "[kernels][layer_norm]") {
  if (simt::hooks().allocated) return;  // the CPU's
  const Case c(200, 385, 1.0f);
  GuardedMatrix<float> y(200, 385), stats(200, 2), in_place = c.x, others(200, 2);
  const auto run = [&](int threads, MatrixView<const float> x, MatrixView<float> to,
                       MatrixView<float> written) {
    const test::ThreadCount with(threads);
    return cpu::layer_norm(Stream{}, x, c.weight.read(), c.bias.read(), kEpsilon, to, written);
  };
  REQUIRE(run(1, c.x.read(), y.view(), stats.view()).ok());
  CHECK(c.wrong(y, stats) == 0);
  REQUIRE(run(2, in_place.read(), in_place.view(), others.view()).ok());
  CHECK(in_place == y);
  CHECK(others == stats);
}

TEST_CASE("layer_norm: equal numbers give the bias, what is not a number its own row",
          "[kernels][layer_norm]") {
  for (const Backend& backend : test::backends(&Kernels::layer_norm)) {
    Case c(3, 40, 0.0f);
    for (int i = 0; i < 40; ++i) c.x(0, i) = 3.0f;
    c.x(1, 39) = std::numeric_limits<float>::quiet_NaN();
    GuardedMatrix<float> y(3, 40), stats(3, 2);
    REQUIRE(test::run(backend, &Kernels::layer_norm, reads(c.x), reads(c.weight), reads(c.bias),
                      kEpsilon, writes(y), writes(stats))
                .ok());
    for (int i = 0; i < 40; ++i) {
      REQUIRE(y(0, i) == c.bias(0, i));
      REQUIRE(std::isnan(y(1, i)));
      REQUIRE(std::isfinite(y(2, i)));
    }
  }
}

}  // namespace engram
