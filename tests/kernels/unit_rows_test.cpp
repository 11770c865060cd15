// unit_rows: against the definition in double.
#include "kernels/unit_rows.h"

#include <cmath>

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

struct Shape {
  int rows, cols;
};

bool is_unit(const GuardedMatrix<float>& x, const GuardedMatrix<float>& y,
             const GuardedMatrix<float>& lengths) {
  bool right = true;
  for (int r = 0; r < x.rows(); ++r) {
    double squares = 0;
    for (int c = 0; c < x.cols(); ++c) squares += double{x(r, c)} * x(r, c);
    const double length = std::sqrt(squares);
    right = right && std::fabs(lengths(0, r) - length) <= 1e-7 * length;
    for (int c = 0; c < x.cols(); ++c) {
      const double wanted = length == 0 ? 0.0 : x(r, c) / length;
      right = right && std::fabs(y(r, c) - wanted) <= 2e-7 * std::fabs(wanted);
    }
  }
  return right;
}

}  // namespace

TEST_CASE("unit_rows: equals the definition within float rounding", "[kernels][unit_rows]") {
  const auto [rows, cols] =
      GENERATE(Shape{0, 3}, Shape{2, 0}, Shape{1, 1}, Shape{3, 31}, Shape{4, 32}, Shape{5, 33},
               Shape{9, 100}, Shape{2, 16385}, Shape{400, 50});
  const GuardedMatrix<float> x = random_matrix(rows, cols, 1);
  for (const Backend& backend : test::backends(&Kernels::unit_rows)) {
    CAPTURE(rows, cols, backend.name);
    GuardedMatrix<float> y(rows, cols), lengths(1, rows), same = x;
    REQUIRE(test::run(backend, &Kernels::unit_rows, reads(x), writes(y), writes(lengths)).ok());
    REQUIRE(is_unit(x, y, lengths));
    REQUIRE(y.untouched());
    REQUIRE(lengths.untouched());
    {
      const test::InPlace both(backend, same);
      REQUIRE(
          test::run(backend, &Kernels::unit_rows, both.read(), both.write(), writes(lengths)).ok());
    }
    REQUIRE(same == y);
  }
}

TEST_CASE("unit_rows: rows of zeros, and of numbers whose squares are no floats",
          "[kernels][unit_rows]") {
  GuardedMatrix<float> x(3, 40);
  for (int c = 0; c < 40; ++c) {
    x(0, c) = c % 2 == 0 ? 0.0f : -0.0f;
    x(1, c) = 1e-30f * float(c + 1);
    x(2, c) = 1e30f * float(c + 1);
  }
  for (const Backend& backend : test::backends(&Kernels::unit_rows)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> y(3, 40), lengths(1, 3);
    REQUIRE(test::run(backend, &Kernels::unit_rows, reads(x), writes(y), writes(lengths)).ok());
    REQUIRE(is_unit(x, y, lengths));
    REQUIRE(lengths(0, 0) == 0.0f);
    REQUIRE(y(0, 39) == 0.0f);
  }
}

}  // namespace engram
