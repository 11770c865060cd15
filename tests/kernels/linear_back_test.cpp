// linear_back: against the definition in double, and against slopes of the linear map.
#include "kernels/linear_back.h"

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/double_matrix.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::DoubleMatrix;
using test::GuardedMatrix;
using test::random_matrix;
using test::reads;
using test::slope;
using test::updates;
using test::writes;

struct Shape {
  int rows, in, out;
};

}  // namespace

TEST_CASE("linear_back: equals the definition within float rounding", "[kernels][linear_back]") {
  const auto [rows, in, out] =
      GENERATE(Shape{0, 3, 4}, Shape{3, 0, 4}, Shape{1, 1, 1}, Shape{1, 300, 5}, Shape{2, 31, 7},
               Shape{3, 32, 8}, Shape{5, 33, 33}, Shape{64, 5, 4}, Shape{65, 34, 3},
               Shape{3, 256, 2}, Shape{3, 257, 2});
  const bool add = GENERATE(true, false);
  const GuardedMatrix<float> dy = random_matrix(rows, out, 1), w = random_matrix(out, in, 2),
                             before = random_matrix(rows, in, 3);
  for (const Backend& backend : test::backends(&Kernels::linear_back)) {
    CAPTURE(rows, in, out, add, backend.name);
    GuardedMatrix<float> dx = add ? before : GuardedMatrix<float>(rows, in);
    REQUIRE(test::run(backend, &Kernels::linear_back, reads(dy), reads(w), add,
                      add ? updates(dx) : writes(dx))
                .ok());
    bool close = true;
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < in; ++i) {
        double sum = add ? before(r, i) : 0.0, size = std::fabs(sum);
        for (int o = 0; o < out; ++o) {
          sum += double{dy(r, o)} * w(o, i);
          size += std::fabs(double{dy(r, o)} * w(o, i));
        }
        close = close && std::fabs(dx(r, i) - sum) <= 1e-6 * size;
      }
    }
    REQUIRE(close);
    REQUIRE(dx.untouched());
  }
}

TEST_CASE("linear_back: is the slope of the map", "[kernels][linear_back]") {
  const GuardedMatrix<float> dy = random_matrix(4, 3, 1), w = random_matrix(3, 5, 2);
  DoubleMatrix x(random_matrix(4, 5, 3));
  const auto value = [&] {  // sum of dy * (x wT)
    double sum = 0;
    for (int r = 0; r < 4; ++r)
      for (int o = 0; o < 3; ++o)
        for (int i = 0; i < 5; ++i) sum += double{dy(r, o)} * x(r, i) * w(o, i);
    return sum;
  };
  for (const Backend& backend : test::backends(&Kernels::linear_back)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dx(4, 5);
    REQUIRE(test::run(backend, &Kernels::linear_back, reads(dy), reads(w), false, writes(dx)).ok());
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 5; ++i) REQUIRE(dx(r, i) == Approx(slope(value, x(r, i))).margin(1e-5));
  }
}

}  // namespace engram
