// gelu in double, as kernels/gelu.h defines it.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/gelu.h"
#include "tests/support/guarded_matrix.h"

namespace engram::test {

inline constexpr double kPi = 3.14159265358979323846;

struct GeluValue {
  double y;
  double exponent;  // of e in it
};
inline GeluValue gelu_defined(GeluKind kind, double x) {
  if (kind == GeluKind::erf) return {x * std::erfc(-x / std::sqrt(2.0)) / 2, x * x / 2};
  if (kind == GeluKind::relu) return {x < 0 ? 0.0 : x, 0};
  const double w =
      kind == GeluKind::quick ? 1.702 * x : 2 * std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x);
  return {x / (1 + std::exp(-w)), std::fabs(w)};
}

// From far below to far above where anything happens, closely; `cols` to a row.
inline GuardedMatrix<float> gelu_inputs(int count, int cols) {
  GuardedMatrix<float> x((count + cols - 1) / cols, cols);
  int i = 0;
  x.fill([&] { return -20.0f + 40.0f * float(i++) / float(count); });
  const float rare[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 1e30f, -1e30f, 3e38f, -3e38f};
  for (int r = 0; r < std::min(x.rows(), 8); ++r) x(r, cols / 2) = rare[r];
  return x;
}

}  // namespace engram::test
