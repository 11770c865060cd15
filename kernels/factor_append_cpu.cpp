// factor_append on the CPU: OpenBLAS. Math and shapes: factor_append.h.
#include "kernels/factor_append.h"

#include "kernels/factor_cpu.h"
#include "kernels/triangular_cpu.h"
#include "platform/blas.h"

namespace engram::cpu {

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
      cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, known, added,
                  1.0f, g.data, g.stride, right, g.stride);
    }
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, added, known, -1.0f, right, g.stride, 1.0f,
                g.row(known) + known, g.stride);
  }
  return factor_block(known, g);
}

}  // namespace engram::cpu
