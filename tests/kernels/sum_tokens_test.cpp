// sum_tokens: the definition in double, what is set to zero, and the same bits on every backend.
#include "kernels/sum_tokens.h"

#include <array>
#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"

namespace engram {

using test::Backend;
using test::GuardedMatrix;
using test::updates;

TEST_CASE("sum_tokens: equals the definition, with the same bits everywhere",
          "[kernels][sum_tokens]") {
  const auto [pictures, tokens, first, count] =
      GENERATE(std::array{0, 4, 1, 2}, std::array{1, 1, 0, 1}, std::array{3, 9, 4, 5},
               std::array{17, 6, 2, 3}, std::array{2, 5, 5, 0});
  const int width = GENERATE(1, 255, 256, 257, 515);
  CAPTURE(pictures, tokens, first, count, width);
  const auto gradient = test::random_matrix(pictures * tokens, width, 1);
  const auto before = test::random_matrix(count, width, 2);
  GuardedMatrix<float> same = before;
  bool is_first = true;
  for (const Backend& backend : test::backends(&Kernels::sum_tokens)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dx = gradient, drows = before;
    REQUIRE(
        test::run(backend, &Kernels::sum_tokens, first, tokens, updates(dx), updates(drows)).ok());
    int wrong = 0;
    for (int r = 0; r < dx.rows(); ++r) {
      const int p = r % tokens - first;
      for (int c = 0; c < width; ++c) {
        wrong += dx(r, c) != (p >= 0 && p < count ? 0.0f : gradient(r, c));
      }
    }
    for (int p = 0; p < count; ++p) {
      for (int c = 0; c < width; ++c) {
        double wanted = before(p, c), size = std::fabs(wanted);
        for (int b = 0; b < pictures; ++b) {
          wanted += gradient(b * tokens + first + p, c);
          size += std::fabs(gradient(b * tokens + first + p, c));
        }
        wrong += !(std::fabs(drows(p, c) - wanted) <= 1e-6 * size);
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(dx.untouched());
    REQUIRE(drows.untouched());
    if (is_first) same = drows;
    is_first = false;
    REQUIRE(drows == same);
  }
}

}  // namespace engram
