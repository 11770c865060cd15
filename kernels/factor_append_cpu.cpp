// factor_append on the CPU: OpenBLAS. Math and shapes: factor_append.h.
#include "kernels/factor_append.h"

#include <algorithm>
#include <vector>

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

// One row, solved where it is contiguous: as a column of U its elements lie a whole row apart, often in the
// same few sets of the caches. The general routine would also pack all of U11 for it.
void append_one(float lambda, int known, GramView g) {
  std::vector<float> x(g.row(known), g.row(known) + known);
  solve_upper_transposed({g.data, g.diagonal, known, g.stride}, x.data(), 1);
  for (int r = 0; r < known; ++r) g.row(r)[known] = x[std::size_t(r)];
  g.row(known)[known] =
      float(double(g.diagonal[known]) + lambda - cblas_dsdot(known, x.data(), 1, x.data(), 1));
}

}  // namespace

Status factor_append(Stream /*stream*/, float lambda, int known, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(known >= 0 && known <= g.size);
  const int added = g.size - known;
  if (added == 0) return Status();

  if (added == 1) {
    append_one(lambda, known, g);
    return factor_block(known, g);
  }
  copy_gram_rows(lambda, known, g);
  if (known > 0) {
    const MatrixView<float> right{g.data + known, known, added, g.stride};
    solve_columns(known, right, g);
    add_gram_upper(-1.0f, right, {g.row(known) + known, added, added, g.stride});
  }
  return factor_block(known, g);
}

}  // namespace engram::cpu
