// The Cholesky factor, in place, in square blocks of rows (right-looking):
//
//     for each block k of rows:   U[k,k] of its square on the diagonal                 one thread
//                                 U[k,j] = U[k,k]^-T A[k,j] for the columns right of it    |||
//                                 A[i,j] -= U[k,i]^T U[k,j] for all below and right        |||
//
// The pieces do not depend on the number of threads, and so neither do the bits of the result.
//
// Row-major "upper" is column-major "lower" of the same bytes: LAPACK is asked for 'L'. Nothing
// strictly below our diagonal, where G is, is read or written.
#include <algorithm>
#include <cmath>

#include "kernels/factor_cpu.h"
#include "kernels/matrix_product_cpu.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kBlock = 192;  // rows; a multiple of what OpenBLAS multiplies at a time

Status not_positive_definite() {
  return Status(Code::bad_data,
                "the statistics plus lambda are not positive definite in float, so they have no "
                "Cholesky factor; the statistics are intact; choose a larger lambda");
}

// The rows [row, row + rows) of the factor, right of their square on the diagonal.
void solve_panel(GramView g, int row, int rows) {
  const int first = row + rows;
  parallel_for(g.size - first, kBlock, [&](int begin, int end) {
    for (int at = begin; at < end; at += kBlock) {
      cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, rows,
                  std::min(kBlock, end - at), 1.0f, g.row(row) + row, g.stride,
                  g.row(row) + first + at, g.stride);
    }
  });
}

// What is left of the matrix, less what the rows [row, row + rows) of the factor explain.
void update_rest(GramView g, int row, int rows) {
  const int first = row + rows, size = g.size - first;
  add_gram_upper(-1.0f, {g.row(row) + first, rows, size, g.stride},
                 {g.row(first) + first, size, size, g.stride});
}

}  // namespace

Status factor_block(int first, GramView g) {
  for (int row = first; row < g.size; row += kBlock) {
    const int rows = std::min(kBlock, g.size - row);
    int info = 0;
    spotrf_("L", &rows, g.row(row) + row, &g.stride, &info);
    ENGRAM_CHECK(info >= 0);
    if (info > 0) return not_positive_definite();
    if (row + rows == g.size) break;
    solve_panel(g, row, rows);
    update_rest(g, row, rows);
  }
  // What is not finite anywhere reaches a later pivot: the diagonal tells.
  for (int m = first; m < g.size; ++m) {
    if (!std::isfinite(g.row(m)[m])) return not_positive_definite();
  }
  return Status();
}

}  // namespace engram::cpu
