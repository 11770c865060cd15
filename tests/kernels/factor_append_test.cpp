// factor_append: UT U against G + lambda I in double, whatever part of the factor was there before.
#include "kernels/factor_append.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "kernels/cholesky.h"
#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::GramCase;
using test::residual;

constexpr float kLambda = 300.0f;

// The kernel matrix of `size` samples with 90 hidden units; NaN where the factor will be.
GramCase kernel_of(int size) {
  std::mt19937 random(1);
  std::vector<std::vector<int>> h(std::size_t(size), std::vector<int>(90));
  for (auto& row : h)
    for (int& value : row) value = int(random() % 32);
  GramCase g(size);
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) {
      int sum = 0;
      for (int m = 0; m < 90; ++m) sum += h[std::size_t(r)][m] * h[std::size_t(c)][m];
      g.buffer(r, c) = c < r ? float(sum) : std::nanf("");
      if (r == c) g.diagonal(0, r) = float(sum);
    }
  }
  return g;
}

GramView leading(GramCase& g, int size) {
  GramView view = g.view();
  view.size = size;
  return view;
}

bool same_columns(const GramCase& a, const GramCase& b, int count) {
  for (int r = 0; r < count; ++r)
    for (int c = r; c < count; ++c)
      if (a.buffer(r, c) != b.buffer(r, c)) return false;
  return true;
}

}  // namespace

TEST_CASE("factor_append: UT U is G + lambda I, and what was there is kept",
          "[kernels][factor_append]") {
  const int known = GENERATE(0, 1, 2, 31, 64, 150);
  const int added = GENERATE(0, 1, 2, 16, 33, 100);
  const GramCase empty = kernel_of(known + added);
  for (const test::Backend& backend : test::backends(&Kernels::factor_append)) {
    CAPTURE(known, added, backend.name);
    GramCase g = empty;
    REQUIRE(cpu::cholesky(Stream{}, kLambda, {}, leading(g, known)).ok());
    const GramCase before = g;
    REQUIRE(test::run(backend, &Kernels::factor_append, kLambda, known, &g).ok());
    REQUIRE(residual(g, g, kLambda) < 2e-6);
    REQUIRE(same_columns(g, before, known));
    REQUIRE(g.same_below(empty));
    REQUIRE(g.diagonal == empty.diagonal);
    REQUIRE(g.untouched());
  }
}

TEST_CASE("factor_append: sample by sample, two hundred times", "[kernels][factor_append]") {
  GramCase g = kernel_of(200);
  for (int n = 0; n < 200; ++n) {
    REQUIRE(cpu::factor_append(Stream{}, kLambda, n, leading(g, n + 1)).ok());
  }
  CHECK(residual(g, g, kLambda) < 2e-6);
}

TEST_CASE("factor_append: what has no factor is bad data, and the factor before is kept",
          "[kernels][factor_append]") {
  const int known = GENERATE(0, 30), place = GENERATE(0, 1, 2);
  constexpr float kBad[] = {-1e7f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()};
  for (const float bad : kBad) {
    CAPTURE(known, place, bad);
    GramCase g = kernel_of(50);
    if (place == 0) g.diagonal(0, 40) = bad;
    if (place == 1) g.buffer(40, 3) = bad;   // in G12 when known is 30
    if (place == 2) g.buffer(45, 41) = bad;  // in G22
    REQUIRE(cpu::cholesky(Stream{}, kLambda, {}, leading(g, known)).ok());
    const GramCase before = g;
    for (const test::Backend& backend : test::backends(&Kernels::factor_append)) {
      CAPTURE(backend.name);
      g = before;
      const Status status = test::run(backend, &Kernels::factor_append, kLambda, known, &g);
      REQUIRE(status.code() == Code::bad_data);
      REQUIRE(std::string(status.what()).find("positive definite") != std::string::npos);
      REQUIRE(same_columns(g, before, known));
      REQUIRE(g.same_below(before));
      REQUIRE(g.untouched());
    }
  }
}

}  // namespace engram
