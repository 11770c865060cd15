// cholesky_solve on the CPU: LAPACK. Math and shapes: cholesky_solve.h.
#include "kernels/cholesky_solve.h"

#include "platform/blas.h"

namespace engram::cpu {

Status cholesky_solve(Stream /*stream*/, GramView g, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  if (g.size == 0 || x.rows == 0) return Status();
  // Our rows are LAPACK's columns, for U and for x alike: nothing is moved.
  int info = 0;
  spotrs_("L", &g.size, &x.rows, g.data, &g.stride, x.data, &x.stride, &info);
  ENGRAM_CHECK(info == 0);
  return Status();
}

}  // namespace engram::cpu
