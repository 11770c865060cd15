// cholesky_solve: the residual of the system it solves, in double.
#include "kernels/cholesky_solve.h"

#include <cmath>
#include <random>

#include "kernels/cholesky.h"
#include "kernels/gram_update.h"
#include "tests/support/catch.h"
#include "tests/support/gram_case.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/worst.h"

namespace engram {

using test::GramCase;
using test::GuardedMatrix;

TEST_CASE("cholesky_solve: (G + lambda I) x gives the class sums back",
          "[kernels][cholesky_solve]") {
  const int units = GENERATE(1, 2, 33, 64, 250);
  const int classes = GENERATE(0, 1, 2, 30);
  CAPTURE(units, classes);
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
  for (const test::Backend& backend : test::backends(&Kernels::cholesky_solve)) {
    CAPTURE(backend.name);
    x = sums;
    REQUIRE(test::run(backend, &Kernels::cholesky_solve, &g, test::updates(x)).ok());
    REQUIRE(g.buffer == factored.buffer);  // only reads
    REQUIRE(g.diagonal == factored.diagonal);
    REQUIRE(x.untouched());

    test::Worst worst;
    for (int k = 0; k < classes; ++k) {
      for (int r = 0; r < units; ++r) {
        double sum = double{kLambda} * x(k, r), size = std::fabs(sum);
        for (int c = 0; c < units; ++c) {
          const double product = double{g.view().gram(r, c)} * x(k, c);
          sum += product;
          size += std::fabs(product);
        }
        worst.see(std::fabs(sum - sums(k, r)) / (size + sums(k, r) + 1.0));
      }
    }
    REQUIRE(worst.value() < 1e-4);
  }
}

}  // namespace engram
