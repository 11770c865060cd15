// add_scaled: to the bit, with and without its optional operands, into another matrix and in place.
#include "kernels/add_scaled.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/double_matrix.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::random_matrix;
using test::reads;
using test::writes;

constexpr float kAlpha = 0.1f;

}  // namespace

TEST_CASE("add_scaled: equals the definition to the bit", "[kernels][add_scaled]") {
  const bool has_x = GENERATE(true, false), has_gamma = GENERATE(true, false);
  for (const auto [rows, cols] : test::elementwise_shapes()) {
    const GuardedMatrix<float> x = random_matrix(has_x ? rows : 0, cols, 1),
                               a = random_matrix(rows, cols, 2),
                               gamma = random_matrix(has_gamma ? 1 : 0, cols, 3);
    GuardedMatrix<float> expected(rows, cols);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        const float factor = has_gamma ? test::rounded_product(kAlpha, gamma(0, c)) : kAlpha;
        const float branch = test::rounded_product(factor, a(r, c));
        expected(r, c) = has_x ? test::rounded_sum(x(r, c), branch) : branch;
      }
    }
    for (const Backend& backend : test::backends(&Kernels::add_scaled)) {
      CAPTURE(rows, cols, has_x, has_gamma, backend.name);
      GuardedMatrix<float> y(rows, cols), onto_x = x, onto_a = a;
      REQUIRE(test::run(backend, &Kernels::add_scaled, reads(x), reads(a), reads(gamma), kAlpha,
                        writes(y))
                  .ok());
      REQUIRE(y == expected);
      {
        const test::InPlace both(backend, onto_a);
        REQUIRE(test::run(backend, &Kernels::add_scaled, reads(x), both.read(), reads(gamma),
                          kAlpha, both.write())
                    .ok());
      }
      REQUIRE(onto_a == expected);
      if (!has_x) continue;
      {
        const test::InPlace both(backend, onto_x);
        REQUIRE(test::run(backend, &Kernels::add_scaled, both.read(), reads(a), reads(gamma),
                          kAlpha, both.write())
                    .ok());
      }
      REQUIRE(onto_x == expected);
    }
  }
}

TEST_CASE("add_scaled: what is left out is not computed with", "[kernels][add_scaled]") {
  for (const Backend& backend : test::backends(&Kernels::add_scaled)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> x(0, 1), a(1, 1), gamma(0, 1), y(1, 1);
    a(0, 0) = -0.0f;
    REQUIRE(
        test::run(backend, &Kernels::add_scaled, reads(x), reads(a), reads(gamma), 1.0f, writes(y))
            .ok());
    REQUIRE(y(0, 0) == 0.0f);
    REQUIRE(std::signbit(y(0, 0)));
  }
}

}  // namespace engram
