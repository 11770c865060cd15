// scale_shift_back: against the definition, and against slopes of scale_shift.
#include "kernels/scale_shift_back.h"

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
  int rows, cols;
};

// Near enough to before + the sum of `terms`, which are products of floats.
bool is_sum(float got, float before, const std::vector<double>& terms) {
  double sum = before, size = std::fabs(sum);
  for (const double term : terms) {
    sum += term;
    size += std::fabs(term);
  }
  return std::fabs(got - sum) <= 1e-6 * size;
}

}  // namespace

TEST_CASE("scale_shift_back: equals the definition", "[kernels][scale_shift_back]") {
  const auto [rows, cols] =
      GENERATE(Shape{0, 3}, Shape{3, 0}, Shape{1, 1}, Shape{15, 31}, Shape{16, 32}, Shape{17, 33},
               Shape{63, 65}, Shape{64, 127}, Shape{65, 128}, Shape{130, 129});
  const bool in_place = GENERATE(false, true);
  const GuardedMatrix<float> dz = random_matrix(rows, cols, 1), y = random_matrix(rows, cols, 2),
                             scale = random_matrix(1, cols, 3),
                             scale_before = random_matrix(1, cols, 4),
                             shift_before = random_matrix(1, cols, 5);
  for (const Backend& backend : test::backends(&Kernels::scale_shift_back)) {
    CAPTURE(rows, cols, in_place, backend.name);
    GuardedMatrix<float> dy = in_place ? dz : GuardedMatrix<float>(rows, cols);
    GuardedMatrix<float> dscale = scale_before, dshift = shift_before;
    if (in_place) {
      const test::InPlace both(backend, dy);
      REQUIRE(test::run(backend, &Kernels::scale_shift_back, both.read(), reads(y), reads(scale),
                        both.write(), updates(dscale), updates(dshift))
                  .ok());
    } else {
      REQUIRE(test::run(backend, &Kernels::scale_shift_back, reads(dz), reads(y), reads(scale),
                        writes(dy), updates(dscale), updates(dshift))
                  .ok());
    }
    bool right = true;
    for (int c = 0; c < cols; ++c) {
      std::vector<double> products, gradients;
      for (int r = 0; r < rows; ++r) {
        products.push_back(double{dz(r, c)} * y(r, c));
        gradients.push_back(dz(r, c));
        right = right && dy(r, c) == test::rounded_product(scale(0, c), dz(r, c));
      }
      right = right && is_sum(dscale(0, c), scale_before(0, c), products);
      right = right && is_sum(dshift(0, c), shift_before(0, c), gradients);
    }
    REQUIRE(right);
    REQUIRE(dy.untouched());
    REQUIRE(dscale.untouched());
    REQUIRE(dshift.untouched());
  }
}

TEST_CASE("scale_shift_back: is the slope of scale_shift", "[kernels][scale_shift_back]") {
  const GuardedMatrix<float> dz = random_matrix(4, 3, 1), y = random_matrix(4, 3, 2),
                             scale = random_matrix(1, 3, 3);
  DoubleMatrix input(y), factor(scale), shift(1, 3);
  const auto value = [&] {  // sum of dz * (scale y + shift)
    double sum = 0;
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 3; ++c) sum += dz(r, c) * (factor(0, c) * input(r, c) + shift(0, c));
    return sum;
  };
  for (const Backend& backend : test::backends(&Kernels::scale_shift_back)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> dy(4, 3), dscale(1, 3), dshift(1, 3);
    dscale.fill([] { return 0.0f; });
    dshift.fill([] { return 0.0f; });
    REQUIRE(test::run(backend, &Kernels::scale_shift_back, reads(dz), reads(y), reads(scale),
                      writes(dy), updates(dscale), updates(dshift))
                .ok());
    for (int c = 0; c < 3; ++c) {
      REQUIRE(dscale(0, c) == Approx(slope(value, factor(0, c))).margin(1e-5));
      REQUIRE(dshift(0, c) == Approx(slope(value, shift(0, c))).margin(1e-5));
      for (int r = 0; r < 4; ++r) {
        REQUIRE(dy(r, c) == Approx(slope(value, input(r, c))).margin(1e-5));
      }
    }
  }
}

}  // namespace engram
