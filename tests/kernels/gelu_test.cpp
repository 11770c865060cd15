// gelu: against the definition in double, over its whole range.
#include "kernels/gelu.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/gelu_definition.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::updates;
using test::writes;

// Elements that are not within the header's promise.
int wrong(const GuardedMatrix<float>& x, GeluKind kind, const GuardedMatrix<float>& y) {
  int count = 0;
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < x.cols(); ++c) {
      const auto [wanted, exponent] = test::gelu_defined(kind, x(r, c));
      // Below what a float can hold with all its digits: |x| times the least such number.
      const double least = 2e-38 * (1 + std::fabs(x(r, c)));
      const double allowed = 1e-6 * (1 + exponent) * std::fabs(wanted) + least;
      count += !(std::fabs(y(r, c) - wanted) <= (std::isnan(allowed) ? least : allowed));
    }
  }
  return count;
}

}  // namespace

TEST_CASE("gelu: equals the definition", "[kernels][gelu]") {
  const GeluKind kind = GENERATE(GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu);
  const int cols = GENERATE(1, 15, 16, 17, 255, 256, 257);
  const GuardedMatrix<float> x = test::gelu_inputs(cols == 1 ? 9 : 8 * cols, cols);
  for (const Backend& backend : test::backends(&Kernels::gelu)) {
    CAPTURE(int(kind), cols, backend.name);
    GuardedMatrix<float> y(x.rows(), cols);
    REQUIRE(test::run(backend, &Kernels::gelu, reads(x), kind, writes(y)).ok());
    REQUIRE(wrong(x, kind, y) == 0);
    REQUIRE(y.untouched());
  }
}

TEST_CASE("gelu: the whole range closely, work shared between threads", "[kernels][gelu]") {
  if (simt::hooks().allocated) return;  // the CPU's functions
  const GeluKind kind = GENERATE(GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu);
  const GuardedMatrix<float> x = test::gelu_inputs(40000, 100);
  for (const test::Path path : test::kernel_paths()) {
    const test::OnPath on(path);
    GuardedMatrix<float> y(x.rows(), x.cols()), in_place = x;
    REQUIRE(cpu::gelu(Stream{}, x.read(), kind, y.view()).ok());
    CHECK(wrong(x, kind, y) == 0);
    REQUIRE(cpu::gelu(Stream{}, in_place.read(), kind, in_place.view()).ok());
    CHECK(in_place == y);
  }
}

TEST_CASE("gelu: what is not a number stays so, an empty matrix is fine", "[kernels][gelu]") {
  const GeluKind kind = GENERATE(GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu);
  for (const Backend& backend : test::backends(&Kernels::gelu)) {
    GuardedMatrix<float> x = test::gelu_inputs(36, 18), y(2, 18), none(0, 5);
    x(1, 3) = x(1, 17) = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(test::run(backend, &Kernels::gelu, reads(x), kind, writes(y)).ok());
    for (int c = 0; c < 18; ++c) REQUIRE(std::isnan(y(1, c)) == (c == 3 || c == 17));
    REQUIRE(test::run(backend, &Kernels::gelu, reads(none), kind, updates(none)).ok());
  }
}

}  // namespace engram
