// linear_gradient: against the definition in double, and against slopes of the linear map.
#include "kernels/linear_gradient.h"

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

struct Shape {
  int rows, in, out;
};

}  // namespace

TEST_CASE("linear_gradient: equals the definition within float rounding",
          "[kernels][linear_gradient]") {
  const auto [rows, in, out] =
      GENERATE(Shape{0, 3, 4}, Shape{3, 0, 4}, Shape{3, 4, 0}, Shape{1, 1, 1}, Shape{15, 300, 1},
               Shape{16, 31, 31}, Shape{17, 32, 32}, Shape{63, 5, 33}, Shape{64, 4, 64},
               Shape{65, 3, 65}, Shape{130, 2, 127}, Shape{3, 2, 128}, Shape{200, 1, 129});
  const bool has_bias = GENERATE(true, false);
  const GuardedMatrix<float> dy = random_matrix(rows, out, 1), x = random_matrix(rows, in, 2),
                             dw_before = random_matrix(out, in, 3),
                             db_before = random_matrix(has_bias ? 1 : 0, out, 4);
  for (const Backend& backend : test::backends(&Kernels::linear_gradient)) {
    CAPTURE(rows, in, out, has_bias, backend.name);
    GuardedMatrix<float> dw = dw_before, db = db_before;
    REQUIRE(
        test::run(backend, &Kernels::linear_gradient, reads(dy), reads(x), updates(dw), updates(db))
            .ok());
    bool close = true;
    for (int o = 0; o < out; ++o) {
      for (int i = -1; i < in; ++i) {  // -1: the bias, whose input is 1
        if (i < 0 && !has_bias) continue;
        double sum = i < 0 ? db_before(0, o) : dw_before(o, i), size = std::fabs(sum);
        for (int r = 0; r < rows; ++r) {
          const double product = double{dy(r, o)} * (i < 0 ? 1.0f : x(r, i));
          sum += product;
          size += std::fabs(product);
        }
        close = close && std::fabs((i < 0 ? db(0, o) : dw(o, i)) - sum) <= 1e-6 * size;
      }
    }
    REQUIRE(close);
    REQUIRE(dw.untouched());
    REQUIRE(db.untouched());
  }
}

TEST_CASE("linear_gradient: is the slope of the map", "[kernels][linear_gradient]") {
  const GuardedMatrix<float> dy = random_matrix(4, 3, 1), x = random_matrix(4, 5, 2);
  DoubleMatrix w(random_matrix(3, 5, 3)), b(random_matrix(1, 3, 4));
  const auto value = [&] {  // sum of dy * (x wT + b)
    double sum = 0;
    for (int r = 0; r < 4; ++r) {
      for (int o = 0; o < 3; ++o) {
        double y = b(0, o);
        for (int i = 0; i < 5; ++i) y += x(r, i) * w(o, i);
        sum += dy(r, o) * y;
      }
    }
    return sum;
  };
  for (const Backend& backend : test::backends(&Kernels::linear_gradient)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dw(3, 5), db(1, 3);
    dw.fill([] { return 0.0f; });
    db.fill([] { return 0.0f; });
    REQUIRE(
        test::run(backend, &Kernels::linear_gradient, reads(dy), reads(x), updates(dw), updates(db))
            .ok());
    for (int o = 0; o < 3; ++o) {
      for (int i = 0; i < 5; ++i) REQUIRE(dw(o, i) == Approx(slope(value, w(o, i))).margin(1e-5));
      REQUIRE(db(0, o) == Approx(slope(value, b(0, o))).margin(1e-5));
    }
  }
}

}  // namespace engram
