// Solves with the factor U of a GramView, which `cholesky_solve`, `triangular_solve` and
// `factor_append` share on the CPU. Layout: gram_view.h.
#pragma once

#include "kernels/gram_view.h"
#include "platform/matrix_view.h"

namespace engram::cpu {

// In place, one right-hand side per row of x (K, M): UT y = x, and U y = x.
void solve_upper_transposed(GramView g, MatrixView<float> x);
void solve_upper(GramView g, MatrixView<float> x);

// The same for one right-hand side whose elements are `step` apart.
void solve_upper_transposed(GramView g, float* x, int step);
void solve_upper(GramView g, float* x, int step);

}  // namespace engram::cpu
