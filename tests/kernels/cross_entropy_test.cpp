// cross_entropy: against the definition in double, and against its own slopes.
#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/double_matrix.h"
#include "tests/support/random_matrix.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::Backend;
using test::DoubleMatrix;
using test::GuardedMatrix;
using test::reads;
using test::slope;
using test::updates;
using test::writes;

struct Case {
  Case(int rows, int classes, float scale)
      : cosines(rows, classes),
        sigma(1, 1),
        labels(1, rows),
        losses(1, rows),
        dcosines(rows, classes),
        dsigma(1, 1) {
    std::mt19937 random(1);
    cosines.fill([&] { return 1e-3f * float(int(random() % 2001) - 1000); });
    labels.fill([&] { return int(random() % unsigned(classes)); });
    sigma(0, 0) = scale;
    dsigma(0, 0) = 0.5f;
  }
  Status run(const Backend& backend, float weight) {
    return test::run(backend, &Kernels::cross_entropy, reads(cosines), reads(sigma), reads(labels),
                     weight, writes(losses), writes(dcosines), updates(dsigma));
  }
  // The definition in double, of row b; its exponentials are small enough for it.
  double loss(const DoubleMatrix& of, double scale, int b) const {
    double sum = 0;
    for (int k = 0; k < of.cols; ++k) sum += std::exp(scale * of(b, k));
    return std::log(sum) - scale * of(b, labels(0, b));
  }

  GuardedMatrix<float> cosines, sigma;
  GuardedMatrix<int> labels;
  GuardedMatrix<float> losses, dcosines, dsigma;
};

}  // namespace

TEST_CASE("cross_entropy: equals the definition within float rounding",
          "[kernels][cross_entropy]") {
  const int rows = GENERATE(0, 1, 7, 8, 9, 20), classes = GENERATE(1, 2, 31, 32, 33, 70);
  const float sigma = GENERATE(1.0f, -16.0f), weight = 0.25f;
  for (const Backend& backend : test::backends(&Kernels::cross_entropy)) {
    CAPTURE(rows, classes, sigma, backend.name);
    Case c(rows, classes, sigma);
    REQUIRE(c.run(backend, weight).ok());
    const DoubleMatrix cosines(c.cosines);
    double slope_by_sigma = 0, size = 0;
    bool close = true;
    for (int b = 0; b < rows; ++b) {
      close = close && std::fabs(c.losses(0, b) - c.loss(cosines, sigma, b)) < 5e-6;
      double sum = 0;
      for (int k = 0; k < classes; ++k) sum += std::exp(sigma * cosines(b, k));
      for (int k = 0; k < classes; ++k) {
        const double share = std::exp(sigma * cosines(b, k)) / sum;
        const double gradient = weight * (share - (k == c.labels(0, b)));
        close = close && std::fabs(c.dcosines(b, k) - sigma * gradient) < 1e-6 * std::fabs(sigma);
        slope_by_sigma += gradient * cosines(b, k);
        size += std::fabs(gradient * cosines(b, k));
      }
    }
    REQUIRE(close);
    REQUIRE(std::fabs(c.dsigma(0, 0) - 0.5 - slope_by_sigma) <= 2e-6 * (size + 0.5));
    REQUIRE((c.losses.untouched() && c.dcosines.untouched() && c.dsigma.untouched()));
  }
}

TEST_CASE("cross_entropy: its gradients are slopes of the weighted losses",
          "[kernels][cross_entropy]") {
  const float weight = 0.25f;
  for (const Backend& backend : test::backends(&Kernels::cross_entropy)) {
    CAPTURE(backend.name);
    Case c(3, 4, 5.0f);
    DoubleMatrix cosines(c.cosines), sigma(c.sigma);
    const auto value = [&] {
      double sum = 0;
      for (int b = 0; b < 3; ++b) sum += weight * c.loss(cosines, sigma(0, 0), b);
      return sum;
    };
    REQUIRE(c.run(backend, weight).ok());
    for (int b = 0; b < 3; ++b) {
      for (int k = 0; k < 4; ++k) {
        REQUIRE(c.dcosines(b, k) == Approx(slope(value, cosines(b, k))).margin(1e-6));
      }
    }
    REQUIRE(c.dsigma(0, 0) - 0.5 == Approx(slope(value, sigma(0, 0))).margin(1e-6));
  }
}

TEST_CASE("cross_entropy: stays finite for scores of any size", "[kernels][cross_entropy]") {
  const float sigma = GENERATE(1e4f, -1e4f, 1e30f);
  for (const Backend& backend : test::backends(&Kernels::cross_entropy)) {
    CAPTURE(sigma, backend.name);
    Case c(5, 40, sigma);
    REQUIRE(c.run(backend, 1.0f).ok());
    for (int b = 0; b < 5; ++b) {
      const float* const row = c.cosines.read().row(b);
      const float most = sigma > 0 ? *std::max_element(row, row + 40)  // takes it all
                                   : *std::min_element(row, row + 40);
      const double wanted = double{sigma} * most - double{sigma} * row[c.labels(0, b)];
      REQUIRE(c.losses(0, b) == Approx(wanted).epsilon(1e-6).margin(1.0));
      for (int k = 0; k < 40; ++k) REQUIRE(std::isfinite(c.dcosines(b, k)));
    }
    REQUIRE(std::isfinite(c.dsigma(0, 0)));
  }
}

TEST_CASE("cross_entropy: what is not a number reaches its row only", "[kernels][cross_entropy]") {
  for (const Backend& backend : test::backends(&Kernels::cross_entropy)) {
    CAPTURE(backend.name);
    Case c(9, 40, 3.0f);
    c.cosines(4, 39) = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(c.run(backend, 1.0f).ok());
    for (int b = 0; b < 9; ++b) {
      REQUIRE(std::isnan(c.losses(0, b)) == (b == 4));
      REQUIRE(std::isnan(c.dcosines(b, 0)) == (b == 4));
    }
  }
}

TEST_CASE("cross_entropy: on a device a wrong label stops the kernel", "[kernels][cross_entropy]") {
  const int wrong = GENERATE(-1, 10);
  for (const Backend& backend : test::simt_backends()) {
    Case c(3, 10, 1.0f);
    c.labels(0, 1) = wrong;
    REQUIRE(test::says(c.run(backend, 1.0f), "__trap at cross_entropy.cu"));
  }
}

}  // namespace engram
