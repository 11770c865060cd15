// quantise: the definition, its edges, its bounds.
#include "kernels/quantise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

// The definition in the header, read literally.
int defined(float feature, float scale) {
  const float product = feature * scale;
  if (std::isnan(product)) return 0;
  return static_cast<int>(std::clamp(std::nearbyint(double{product}), -127.0, 127.0));
}

// On every backend, which must agree.
int quantise_one(float feature, float scale) {
  GuardedMatrix<float> f(1, 1);
  f(0, 0) = feature;
  GuardedMatrix<std::int8_t> q(1, 1), first(1, 1);
  GuardedMatrix<std::int32_t> not_finite(1, 1);
  bool begun = false;
  for (const Backend& backend : test::backends(&Kernels::quantise)) {
    CAPTURE(backend.name, feature);
    REQUIRE(test::run(backend, &Kernels::quantise, reads(f), scale, writes(q), writes(not_finite))
                .ok());
    REQUIRE(not_finite(0, 0) == !std::isfinite(feature));
    if (!std::exchange(begun, true)) first = q;
    REQUIRE(q == first);
  }
  return q(0, 0);
}

}  // namespace

TEST_CASE("quantise: equals the definition", "[kernels][quantise]") {
  const int rows = GENERATE(1, 3, 17);
  const int cols = GENERATE(0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 255, 256, 257, 384, 1281);
  const float scale = GENERATE(0.5f, 13.7f, 1000.0f);
  CAPTURE(rows, cols, scale);

  std::mt19937 random(1);
  std::normal_distribution<float> feature;
  GuardedMatrix<float> f(rows, cols);
  f.fill([&] { return feature(random); });
  for (const Backend& backend : test::backends(&Kernels::quantise)) {
    CAPTURE(backend.name);
    GuardedMatrix<std::int8_t> q(rows, cols);
    GuardedMatrix<std::int32_t> not_finite(1, rows);
    REQUIRE(test::run(backend, &Kernels::quantise, reads(f), scale, writes(q), writes(not_finite))
                .ok());
    int wrong = 0;
    for (int b = 0; b < rows; ++b)
      for (int l = 0; l < cols; ++l) wrong += int{q(b, l)} != defined(f(b, l), scale);
    REQUIRE(wrong == 0);
    REQUIRE(q.untouched());
    for (int b = 0; b < rows; ++b) REQUIRE(not_finite(0, b) == 0);
    REQUIRE(not_finite.untouched());
  }
}

TEST_CASE("quantise: a feature that is not finite is seen wherever it is", "[kernels][quantise]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(), float{kInfinity}, -kInfinity);
  const int at = GENERATE(0, 1, 31, 32, 255, 256, 299);
  CAPTURE(bad, at);
  GuardedMatrix<float> f(3, 300);
  f.fill([] { return std::numeric_limits<float>::max(); });  // the products overflow: no harm
  f(1, at) = bad;
  for (const Backend& backend : test::backends(&Kernels::quantise)) {
    CAPTURE(backend.name);
    GuardedMatrix<std::int8_t> q(3, 300);
    GuardedMatrix<std::int32_t> not_finite(1, 3);
    REQUIRE(
        test::run(backend, &Kernels::quantise, reads(f), 2.0f, writes(q), writes(not_finite)).ok());
    REQUIRE(not_finite(0, 0) == 0);
    REQUIRE(not_finite(0, 1) == 1);
    REQUIRE(not_finite(0, 2) == 0);
    REQUIRE(not_finite.untouched());
  }
}

TEST_CASE("quantise: halves go to the even neighbour", "[kernels][quantise]") {
  for (int half = -255; half <= 255; ++half) {
    const float feature = static_cast<float>(half) / 2.0f;
    CAPTURE(feature);
    REQUIRE(quantise_one(feature, 1.0f) == defined(feature, 1.0f));
  }
  REQUIRE(quantise_one(0.5f, 1.0f) == 0);
  REQUIRE(quantise_one(1.5f, 1.0f) == 2);
  REQUIRE(quantise_one(-2.5f, 1.0f) == -2);
}

TEST_CASE("quantise: the extremes are cut, NaN gives 0", "[kernels][quantise]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  REQUIRE(quantise_one(127.4f, 1.0f) == 127);
  REQUIRE(quantise_one(126.6f, 1.0f) == 127);
  REQUIRE(quantise_one(1e30f, 1e30f) == 127);
  REQUIRE(quantise_one(-1e30f, 1e30f) == -127);
  REQUIRE(quantise_one(kInfinity, 1.0f) == 127);
  REQUIRE(quantise_one(-kInfinity, 1.0f) == -127);
  REQUIRE(quantise_one(std::numeric_limits<float>::quiet_NaN(), 1.0f) == 0);
  REQUIRE(quantise_one(-0.0f, 1.0f) == 0);
}

}  // namespace engram
