// triangular_solve on the CPU: OpenBLAS. Math and shapes: triangular_solve.h.
#include "kernels/triangular_solve.h"

#include "platform/blas.h"

namespace engram::cpu {

Status triangular_solve(Stream /*stream*/, GramView g, bool transposed, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  if (g.size == 0 || x.rows == 0) return Status();
  if (x.rows == 1) {  // the general routine would pack all of U for one row
    cblas_strsv(CblasRowMajor, CblasUpper, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                g.size, g.data, g.stride, x.data, 1);
    return Status();
  }
  // Rows: UT x = b is xT U = bT, so U stands on the right and the other way round.
  cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, transposed ? CblasNoTrans : CblasTrans,
              CblasNonUnit, x.rows, x.cols, 1.0f, g.data, g.stride, x.data, x.stride);
  return Status();
}

}  // namespace engram::cpu
