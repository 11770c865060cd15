// factor_append on the CPU: OpenBLAS. Math and shapes: factor_append.h.
#include "kernels/factor_append.h"

#include <algorithm>

#include "kernels/factor_cpu.h"
#include "kernels/matrix_product_cpu.h"
#include "kernels/triangular_cpu.h"
#include "platform/blas.h"

namespace engram::cpu {
namespace {

constexpr int kBlock = 192;  // rows of U

// UT y = x in place, of the first `known` rows of the factor, one right-hand side per column of x.
void solve_columns(int known, MatrixView<float> x, GramView g) {
  for (int row = 0; row < known; row += kBlock) {
    const int rows = std::min(kBlock, known - row), below = row + rows;
    cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, rows, x.cols, 1.0f,
                g.row(row) + row, g.stride, x.row(row), x.stride);
    multiply(-1.0f, turned({g.row(row) + below, rows, known - below, g.stride}),
             plain(x.row_range(row, rows)), 1.0f, x.row_range(below, known - below));
  }
}

}  // namespace

Status factor_append(Stream /*stream*/, float lambda, int known, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(known >= 0 && known <= g.size);
  const int added = g.size - known;
  if (added == 0) return Status();

  copy_gram_rows(lambda, known, g);
  if (known > 0) {
    float* right = g.data + known;
    if (added == 1) {  // the general routine would pack all of U11 for one column
      solve_upper_transposed({g.data, g.diagonal, known, g.stride}, right, g.stride);
    } else {
      solve_columns(known, {right, known, added, g.stride}, g);
    }
    add_gram_upper(-1.0f, {right, known, added, g.stride},
                   {g.row(known) + known, added, added, g.stride});
  }
  return factor_block(known, g);
}

}  // namespace engram::cpu
