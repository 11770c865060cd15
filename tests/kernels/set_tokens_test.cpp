// set_tokens: the definition, and that other rows are left alone.
#include "kernels/set_tokens.h"

#include <array>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"

namespace engram {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;

TEST_CASE("set_tokens: writes its rows alone", "[kernels][set_tokens]") {
  const auto [pictures, tokens, first, count] =
      GENERATE(std::array{0, 4, 1, 2}, std::array{1, 1, 0, 1}, std::array{3, 9, 4, 5},
               std::array{4, 6, 2, 3}, std::array{5, 3, 0, 3}, std::array{2, 5, 5, 0});
  const int width = GENERATE(1, 255, 256, 257);
  CAPTURE(pictures, tokens, first, count, width);
  const auto rows = test::random_matrix(count, width, 1);
  for (const Backend& backend : test::backends(&Kernels::set_tokens)) {
    CAPTURE(backend.name);
    auto x = test::random_matrix(pictures * tokens, width, 2);
    const auto before = x;
    REQUIRE(test::run(backend, &Kernels::set_tokens, reads(rows), first, tokens, updates(x)).ok());
    int wrong = 0;
    for (int r = 0; r < x.rows(); ++r) {
      const int p = r % tokens - first;
      for (int c = 0; c < width; ++c) {
        wrong += x(r, c) != (p >= 0 && p < count ? rows(p, c) : before(r, c));
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(x.untouched());
  }
}

}  // namespace engram
