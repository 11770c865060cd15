// unit_rows_back: against the definition in double, and against slopes of unit_rows.
#include "kernels/unit_rows_back.h"

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
using test::writes;

struct Shape {
  int rows, cols;
};

// Rows of length 1, and how long they were; the second row was zeros.
struct Case {
  Case(int rows, int cols) : dy(random_matrix(rows, cols, 1)), y(rows, cols), lengths(1, rows) {
    const GuardedMatrix<float> x = random_matrix(rows, cols, 2);
    for (int r = 0; r < rows; ++r) {
      double squares = 0;
      for (int c = 0; c < cols; ++c) squares += double{x(r, c)} * x(r, c);
      lengths(0, r) = r == 1 ? 0.0f : float(std::sqrt(squares));
      for (int c = 0; c < cols; ++c) y(r, c) = r == 1 ? 0.0f : float(x(r, c) / std::sqrt(squares));
    }
  }
  GuardedMatrix<float> dy, y, lengths;
};

}  // namespace

TEST_CASE("unit_rows_back: equals the definition within float rounding",
          "[kernels][unit_rows_back]") {
  const auto [rows, cols] = GENERATE(Shape{0, 3}, Shape{2, 0}, Shape{1, 1}, Shape{3, 31},
                                     Shape{4, 32}, Shape{5, 33}, Shape{9, 100}, Shape{400, 50});
  const Case c(rows, cols);
  for (const Backend& backend : test::backends(&Kernels::unit_rows_back)) {
    CAPTURE(rows, cols, backend.name);
    GuardedMatrix<float> dx(rows, cols), same = c.dy;
    REQUIRE(test::run(backend, &Kernels::unit_rows_back, reads(c.dy), reads(c.y), reads(c.lengths),
                      writes(dx))
                .ok());
    bool close = true;
    for (int r = 0; r < rows; ++r) {
      double along = 0, size = 0;
      for (int i = 0; i < cols; ++i) {
        along += double{c.dy(r, i)} * c.y(r, i);
        size += std::fabs(double{c.dy(r, i)} * c.y(r, i));
      }
      for (int i = 0; i < cols; ++i) {
        const double length = c.lengths(0, r);
        const double wanted = r == 1 ? 0.0 : (c.dy(r, i) - along * c.y(r, i)) / length;
        const double allowed = r == 1 ? 0.0 : (std::fabs(c.dy(r, i)) + size) / length;
        close = close && std::fabs(dx(r, i) - wanted) <= 3e-7 * allowed;
      }
    }
    REQUIRE(close);
    REQUIRE(dx.untouched());
    {
      const test::InPlace both(backend, same);
      REQUIRE(test::run(backend, &Kernels::unit_rows_back, both.read(), reads(c.y),
                        reads(c.lengths), both.write())
                  .ok());
    }
    REQUIRE(same == dx);
  }
}

TEST_CASE("unit_rows_back: is the slope of unit_rows", "[kernels][unit_rows_back]") {
  const GuardedMatrix<float> dy = random_matrix(1, 6, 1);
  DoubleMatrix x(random_matrix(1, 6, 2));
  const auto length = [&] {
    double squares = 0;
    for (int c = 0; c < 6; ++c) squares += x(0, c) * x(0, c);
    return std::sqrt(squares);
  };
  const auto value = [&] {  // sum of dy * x / |x|
    double sum = 0;
    for (int c = 0; c < 6; ++c) sum += dy(0, c) * x(0, c) / length();
    return sum;
  };
  GuardedMatrix<float> y(1, 6), lengths(1, 1);
  lengths(0, 0) = float(length());
  for (int c = 0; c < 6; ++c) y(0, c) = float(x(0, c) / length());
  for (const Backend& backend : test::backends(&Kernels::unit_rows_back)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dx(1, 6);
    REQUIRE(test::run(backend, &Kernels::unit_rows_back, reads(dy), reads(y), reads(lengths),
                      writes(dx))
                .ok());
    for (int c = 0; c < 6; ++c) REQUIRE(dx(0, c) == Approx(slope(value, x(0, c))).margin(1e-5));
  }
}

}  // namespace engram
