// inverse_diagonal: against the inverse of UT U in double.
#include "kernels/inverse_diagonal.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::GramCase;
using test::GuardedMatrix;

// Row norms of U^-1, column by column in double.
std::vector<double> defined(const GramCase& g) {
  const int n = g.buffer.rows();
  std::vector<double> d(static_cast<std::size_t>(n)), x(d);
  for (int j = 0; j < n; ++j) {
    for (int r = j; r >= 0; --r) {
      double sum = r == j ? 1.0 : 0.0;
      for (int c = r + 1; c <= j; ++c) sum -= double{g.buffer(r, c)} * x[std::size_t(c)];
      x[std::size_t(r)] = sum / g.buffer(r, r);
      d[std::size_t(r)] += x[std::size_t(r)] * x[std::size_t(r)];
    }
  }
  return d;
}

}  // namespace

TEST_CASE("inverse_diagonal: the diagonal of the inverse", "[kernels][inverse_diagonal]") {
  const int units = GENERATE(1, 2, 63, 64, 65, 200, 600), width = GENERATE(7, 64, 700);
  CAPTURE(units, width);
  std::mt19937 random(1);
  GramCase g(units);
  g.diagonal.fill([] { return 0.0f; });
  for (int r = 0; r < units; ++r)  // below the diagonal: G, which must not be read
    for (int c = 0; c < units; ++c)
      g.buffer(r, c) = c < r    ? std::nanf("")
                       : c == r ? 5.0f + float(random() % 10)
                                : 0.02f * float(int(random() % 100) - 50);
  GuardedMatrix<float> scratch(units, width), d(1, units);
  const GramCase factor = g;
  const std::vector<double> wanted = defined(g);
  for (const test::Backend& backend : test::backends(&Kernels::inverse_diagonal)) {
    CAPTURE(backend.name);
    scratch.fill([] { return std::nanf(""); });
    d.fill([] { return std::nanf(""); });
    REQUIRE(
        test::run(backend, &Kernels::inverse_diagonal, &g, test::writes(scratch), test::writes(d))
            .ok());
    REQUIRE(g.buffer == factor.buffer);
    REQUIRE(scratch.untouched());
    REQUIRE(d.untouched());
    for (int m = 0; m < units; ++m) {
      CAPTURE(m);
      REQUIRE(std::fabs(d(0, m) / wanted[std::size_t(m)] - 1.0) < 1e-5);
    }
  }
}

TEST_CASE("inverse_diagonal: nothing to invert", "[kernels][inverse_diagonal]") {
  GramCase g(0);
  GuardedMatrix<float> scratch(0, 64), d(1, 0);
  for (const test::Backend& backend : test::backends(&Kernels::inverse_diagonal)) {
    REQUIRE(
        test::run(backend, &Kernels::inverse_diagonal, &g, test::writes(scratch), test::writes(d))
            .ok());
  }
}

TEST_CASE("inverse_diagonal: the same bits for every thread count", "[kernels][inverse_diagonal]") {
  std::mt19937 random(2);
  GramCase g(400);
  g.buffer.fill([&] { return 0.02f * float(int(random() % 100) - 50); });
  for (int m = 0; m < 400; ++m) g.buffer(m, m) = 20.0f;
  GuardedMatrix<float> scratch(400, 128);
  std::vector<GuardedMatrix<float>> results;
  for (const int threads : {1, 2, 3}) {
    const test::OnPath on({cpu::best_simd(), threads});
    results.emplace_back(1, 400);
    REQUIRE(cpu::inverse_diagonal(Stream{}, g.view(), scratch.view(), results.back().view()).ok());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

}  // namespace engram
