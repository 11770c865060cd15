// patches: every element where the definition says.
#include "kernels/patches.h"

#include <array>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

}  // namespace

TEST_CASE("patches: equals the definition", "[kernels][patches]") {
  const auto [pictures, side, patch] = GENERATE(
      std::array{0, 4, 2}, std::array{1, 1, 1}, std::array{1, 6, 2}, std::array{2, 15, 5},
      std::array{3, 16, 16}, std::array{1, 28, 14}, std::array{1, 27, 9}, std::array{5, 8, 2});
  CAPTURE(pictures, side, patch);
  GuardedMatrix<float> tensors(pictures, 3 * side * side);
  float next = 0;
  tensors.fill([&] { return ++next; });
  const int across = side / patch;
  for (const Backend& backend : test::backends(&Kernels::patches)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> rows(pictures * across * across, 3 * patch * patch);
    REQUIRE(test::run(backend, &Kernels::patches, reads(tensors), side, patch, writes(rows)).ok());
    int wrong = 0;
    for (int b = 0; b < pictures; ++b) {
      for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < side; ++y) {
          for (int x = 0; x < side; ++x) {
            const int row = (b * across + y / patch) * across + x / patch;
            const int col = (c * patch + y % patch) * patch + x % patch;
            wrong += rows(row, col) != tensors(b, (c * side + y) * side + x);
          }
        }
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(rows.untouched());
  }
}

}  // namespace engram
