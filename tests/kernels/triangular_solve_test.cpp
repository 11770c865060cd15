// triangular_solve: each half against its definition in double, both halves against cholesky_solve.
#include "kernels/triangular_solve.h"

#include <cmath>
#include <random>
#include <vector>

#include "kernels/cholesky_solve.h"
#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {

using test::GramCase;
using test::GuardedMatrix;

TEST_CASE("triangular_solve: U or UT times the result gives the right-hand side back",
          "[kernels][triangular_solve]") {
  const int units = GENERATE(1, 2, 33, 96, 97, 192, 193, 600), rows = GENERATE(0, 1, 2, 40);
  const bool transposed = GENERATE(false, true);
  CAPTURE(units, rows, transposed);
  std::mt19937 random(1);
  GramCase g(units);
  GuardedMatrix<float> x(rows, units);
  g.diagonal.fill([] { return 0.0f; });
  for (int r = 0; r < units; ++r)  // below the diagonal: G, which must not be read
    for (int c = 0; c < units; ++c)
      g.buffer(r, c) = c < r    ? std::nanf("")
                       : c == r ? 20.0f + float(random() % 10)
                                : 0.01f * float(int(random() % 100) - 50);
  x.fill([&] { return float(random() % 1000) - 500.0f; });

  const GramCase factor = g;
  const GuardedMatrix<float> wanted = x;
  for (const test::Backend& backend : test::backends(&Kernels::triangular_solve)) {
    CAPTURE(backend.name);
    x = wanted;
    REQUIRE(test::run(backend, &Kernels::triangular_solve, &g, transposed, test::updates(x)).ok());
    REQUIRE(g.buffer == factor.buffer);
    REQUIRE(x.untouched());
    test::Worst worst;
    for (int k = 0; k < rows; ++k) {
      for (int r = 0; r < units; ++r) {
        double sum = 0, size = 1;
        for (int c = 0; c < units; ++c) {
          const double u =
              transposed ? (c <= r ? g.buffer(c, r) : 0.0f) : (c >= r ? g.buffer(r, c) : 0.0f);
          sum += u * x(k, c);
          size += std::fabs(u * x(k, c));
        }
        worst.see(std::fabs(sum - wanted(k, r)) / size);
      }
    }
    REQUIRE(worst.value() < 1e-6);
  }
}

TEST_CASE("triangular_solve: the same bits for every thread count", "[kernels][triangular_solve]") {
  const int rows = GENERATE(1, 40);
  const bool transposed = GENERATE(false, true);
  std::mt19937 random(3);
  GramCase g(700);
  g.buffer.fill([&] { return 0.01f * float(int(random() % 100) - 50); });
  for (int m = 0; m < 700; ++m) g.buffer(m, m) = 20.0f;
  GuardedMatrix<float> x(rows, 700);
  x.fill([&] { return float(random() % 1000) - 500.0f; });
  std::vector<GuardedMatrix<float>> results;
  for (const int threads : {1, 2, 3}) {
    const test::OnPath on({cpu::best_simd(), threads});
    results.push_back(x);
    REQUIRE(cpu::triangular_solve(Stream{}, g.view(), transposed, results.back().view()).ok());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

TEST_CASE("triangular_solve: both halves make cholesky_solve", "[kernels][triangular_solve]") {
  constexpr int kUnits = 70;
  GramCase g(kUnits);
  GuardedMatrix<float> x(3, kUnits);
  std::mt19937 random(2);
  g.buffer.fill([&] { return 0.01f * float(random() % 100); });
  for (int m = 0; m < kUnits; ++m) g.buffer(m, m) = 10.0f;
  x.fill([&] { return float(random() % 100); });
  GuardedMatrix<float> whole = x;
  REQUIRE(cpu::cholesky_solve(Stream{}, g.view(), whole.view()).ok());
  REQUIRE(cpu::triangular_solve(Stream{}, g.view(), true, x.view()).ok());
  REQUIRE(cpu::triangular_solve(Stream{}, g.view(), false, x.view()).ok());
  for (int k = 0; k < 3; ++k)
    for (int m = 0; m < kUnits; ++m) CHECK(std::fabs(x(k, m) - whole(k, m)) < 1e-5);
}

}  // namespace engram
