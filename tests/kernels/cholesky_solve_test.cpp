// cholesky_solve: the residual of the system it solves, in double.
#include "kernels/cholesky_solve.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/cholesky.h"
#include "kernels/gram_update.h"
#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_paths.h"

namespace engram {

using test::GramCase;
using test::GuardedMatrix;

TEST_CASE("cholesky_solve: (G + lambda I) x gives the class sums back",
          "[kernels][cholesky_solve]") {
  const int units = GENERATE(1, 2, 33, 64, 250);
  const int classes = GENERATE(0, 1, 2, 30);
  const int threads = GENERATE(1, 2);
  CAPTURE(units, classes, threads);
  const test::OnPath on({cpu::best_simd(), threads});
  constexpr float kLambda = 500.0f;

  std::mt19937 random(1);
  GuardedMatrix<float> h(100, units), x(classes, units);
  GramCase g(units);
  h.fill([&] { return random() % 32; });
  x.fill([&] { return random() % 1000; });
  g.buffer.fill([] { return 0.0f; });
  g.diagonal.fill([] { return 0.0f; });
  REQUIRE(cpu::gram_update(Stream{}, h.read(), 1.0f, g.view()).ok());
  REQUIRE(cpu::cholesky(Stream{}, kLambda, {}, g.view()).ok());

  const GramCase factored = g;
  const GuardedMatrix<float> sums = x;
  REQUIRE(cpu::cholesky_solve(Stream{}, g.view(), x.view()).ok());
  REQUIRE(g.buffer == factored.buffer);  // only reads
  REQUIRE(g.diagonal == factored.diagonal);
  REQUIRE(x.untouched());

  double worst = 0.0;
  for (int k = 0; k < classes; ++k) {
    for (int r = 0; r < units; ++r) {
      double sum = double{kLambda} * x(k, r), size = std::fabs(sum);
      for (int c = 0; c < units; ++c) {
        const double product = double{g.view().gram(r, c)} * x(k, c);
        sum += product;
        size += std::fabs(product);
      }
      worst = std::max(worst, std::fabs(sum - sums(k, r)) / (size + sums(k, r) + 1.0));
    }
  }
  REQUIRE(worst < 1e-4);
}

}  // namespace engram
