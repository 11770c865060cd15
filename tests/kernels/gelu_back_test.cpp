// gelu_back: against differences of gelu's definition in double.
#include "kernels/gelu_back.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/gelu_definition.h"
#include "tests/support/kernel_backends.h"
#include "tests/support/random_matrix.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;
using test::reads;
using test::writes;

double slope(GeluKind kind, double x) {
  if (std::fabs(x) > 1e6) return x > 0;  // where a difference says nothing
  if (kind == GeluKind::relu) return x > 0;
  return test::slope([&] { return test::gelu_defined(kind, x).y; }, x);
}

int wrong(const GuardedMatrix<float>& dy, const GuardedMatrix<float>& x, GeluKind kind,
          const GuardedMatrix<float>& dx) {
  int count = 0;
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < x.cols(); ++c) {
      const double wanted = dy(r, c) * slope(kind, x(r, c));
      count += !(std::fabs(dx(r, c) - wanted) <= 1e-6 * std::fabs(dy(r, c)));
    }
  }
  return count;
}

}  // namespace

TEST_CASE("gelu_back: equals differences of the definition", "[kernels][gelu_back]") {
  const GeluKind kind = GENERATE(GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu);
  const int cols = GENERATE(1, 15, 16, 17, 255, 256, 257);
  const GuardedMatrix<float> x = test::gelu_inputs(cols == 1 ? 9 : 8 * cols, cols);
  const GuardedMatrix<float> dy = test::random_matrix(x.rows(), cols, 1);
  for (const Backend& backend : test::backends(&Kernels::gelu_back)) {
    CAPTURE(int(kind), cols, backend.name);
    GuardedMatrix<float> dx(x.rows(), cols);
    REQUIRE(test::run(backend, &Kernels::gelu_back, reads(dy), reads(x), kind, writes(dx)).ok());
    REQUIRE(wrong(dy, x, kind, dx) == 0);
    REQUIRE(dx.untouched());
  }
}

TEST_CASE("gelu_back: the whole range closely, also in place", "[kernels][gelu_back]") {
  if (simt::hooks().allocated) return;  // the CPU's functions
  const GeluKind kind = GENERATE(GeluKind::erf, GeluKind::tanh, GeluKind::quick, GeluKind::relu);
  const GuardedMatrix<float> x = test::gelu_inputs(40000, 100);
  const GuardedMatrix<float> dy = test::random_matrix(x.rows(), x.cols(), 1);
  for (const test::Path path : test::kernel_paths()) {
    const test::OnPath on(path);
    GuardedMatrix<float> dx(x.rows(), x.cols()), in_place = dy;
    REQUIRE(cpu::gelu_back(Stream{}, dy.read(), x.read(), kind, dx.view()).ok());
    CHECK(wrong(dy, x, kind, dx) == 0);
    REQUIRE(cpu::gelu_back(Stream{}, in_place.read(), x.read(), kind, in_place.view()).ok());
    CHECK(in_place == dx);
  }
}

TEST_CASE("gelu_back: relu's gradient is nothing where nothing came through",
          "[kernels][gelu_back]") {
  for (const Backend& backend : test::backends(&Kernels::gelu_back)) {
    GuardedMatrix<float> x(1, 3), dy(1, 3), dx(1, 3);
    x(0, 0) = 0.0f;
    x(0, 1) = -2.0f;
    x(0, 2) = 3.0f;
    dy.fill([] { return std::numeric_limits<float>::infinity(); });
    REQUIRE(test::run(backend, &Kernels::gelu_back, reads(dy), reads(x), GeluKind::relu, writes(dx))
                .ok());
    CHECK(dx(0, 0) == 0.0f);
    CHECK(dx(0, 1) == 0.0f);
    CHECK(dx(0, 2) == dy(0, 2));
  }
}

}  // namespace engram
