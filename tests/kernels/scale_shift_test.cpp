// scale_shift: to the bit, into another matrix and in place.
#include "kernels/scale_shift.h"

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

}  // namespace

TEST_CASE("scale_shift: equals the definition to the bit", "[kernels][scale_shift]") {
  for (const auto [rows, cols] : test::elementwise_shapes()) {
    const GuardedMatrix<float> y = random_matrix(rows, cols, 1), scale = random_matrix(1, cols, 2),
                               shift = random_matrix(1, cols, 3);
    GuardedMatrix<float> expected(rows, cols);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) {
        expected(r, c) =
            test::rounded_sum(test::rounded_product(scale(0, c), y(r, c)), shift(0, c));
      }
    }
    for (const Backend& backend : test::backends(&Kernels::scale_shift)) {
      CAPTURE(rows, cols, backend.name);
      GuardedMatrix<float> z(rows, cols), same = y;
      REQUIRE(
          test::run(backend, &Kernels::scale_shift, reads(y), reads(scale), reads(shift), writes(z))
              .ok());
      REQUIRE(z == expected);
      {
        const test::InPlace both(backend, same);
        REQUIRE(test::run(backend, &Kernels::scale_shift, both.read(), reads(scale), reads(shift),
                          both.write())
                    .ok());
      }
      REQUIRE(same == expected);
    }
  }
}

}  // namespace engram
