// linear: against the definition in double.
#include "kernels/linear.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::random_matrix;
using test::reads;
using test::writes;

struct Shape {
  int rows, in, out;
};

}  // namespace

TEST_CASE("linear: equals the definition within float rounding", "[kernels][linear]") {
  const auto [rows, in, out] =
      GENERATE(Shape{0, 3, 4}, Shape{3, 4, 0}, Shape{1, 1, 1}, Shape{1, 5, 300}, Shape{2, 7, 31},
               Shape{3, 8, 32}, Shape{5, 33, 33}, Shape{64, 4, 5}, Shape{65, 3, 34},
               Shape{2, 2, 255}, Shape{3, 2, 256}, Shape{3, 2, 257});
  const bool has_bias = GENERATE(true, false);
  const GuardedMatrix<float> x = random_matrix(rows, in, 1), w = random_matrix(out, in, 2),
                             b = random_matrix(has_bias ? 1 : 0, out, 3);
  for (const Backend& backend : test::backends(&Kernels::linear)) {
    CAPTURE(rows, in, out, has_bias, backend.name);
    GuardedMatrix<float> y(rows, out);
    REQUIRE(test::run(backend, &Kernels::linear, reads(x), reads(w), reads(b), writes(y)).ok());
    bool close = true;
    for (int r = 0; r < rows; ++r) {
      for (int o = 0; o < out; ++o) {
        double sum = has_bias ? b(0, o) : 0.0, size = std::fabs(sum);
        for (int i = 0; i < in; ++i) {
          sum += double{x(r, i)} * w(o, i);
          size += std::fabs(double{x(r, i)} * w(o, i));
        }
        close = close && std::fabs(y(r, o) - sum) <= 1e-6 * size;
      }
    }
    REQUIRE(close);
    REQUIRE(y.untouched());
  }
}

TEST_CASE("linear: what y held does not matter", "[kernels][linear]") {
  const bool has_bias = GENERATE(true, false);
  for (const Backend& backend : test::backends(&Kernels::linear)) {
    CAPTURE(has_bias, backend.name);
    GuardedMatrix<float> x(3, 4), w(5, 4), b(has_bias ? 1 : 0, 5), y(3, 5);
    x.fill([] { return 2.0f; });
    w.fill([] { return 0.5f; });
    b.fill([] { return 1.0f; });
    y.fill([] { return std::numeric_limits<float>::quiet_NaN(); });
    REQUIRE(test::run(backend, &Kernels::linear, reads(x), reads(w), reads(b), writes(y)).ok());
    REQUIRE(y(2, 4) == (has_bias ? 5.0f : 4.0f));
  }
}

}  // namespace engram
