// embed_tokens: the definition, and that rows of prompts are left alone.
#include "kernels/embed_tokens.h"

#include <array>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"

namespace engram {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;

TEST_CASE("embed_tokens: equals the definition and leaves prompts alone",
          "[kernels][embed_tokens]") {
  const auto [pictures, patches, prefix, prompts] =
      GENERATE(std::array{0, 4, 1, 0}, std::array{1, 1, 0, 0}, std::array{2, 9, 1, 0},
               std::array{3, 16, 5, 4}, std::array{5, 7, 1, 3}, std::array{2, 0, 2, 1});
  const int width = GENERATE(1, 31, 255, 256, 257);
  CAPTURE(pictures, patches, prefix, prompts, width);
  const int known = prefix + patches, tokens = known + prompts;
  const auto e = test::random_matrix(pictures * patches, width, 1);
  const auto first = test::random_matrix(prefix, width, 2);
  const auto positions = test::random_matrix(known, width, 3);
  for (const Backend& backend : test::backends(&Kernels::embed_tokens)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> x(pictures * tokens, width);
    x.fill([] { return -7.0f; });
    REQUIRE(test::run(backend, &Kernels::embed_tokens, reads(e), reads(first), reads(positions),
                      tokens, updates(x))
                .ok());
    int wrong = 0;
    for (int r = 0; r < x.rows(); ++r) {
      const int b = r / tokens, token = r % tokens;
      for (int c = 0; c < width; ++c) {
        const float wanted = token >= known ? -7.0f
                             : token < prefix
                                 ? first(token, c) + positions(token, c)
                                 : e(b * patches + token - prefix, c) + positions(token, c);
        wrong += x(r, c) != wanted;
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(x.untouched());
  }
}

}  // namespace engram
