// cholesky_solve on the CPU: blocks of OpenBLAS on our threads. Math and shapes: cholesky_solve.h.
#include "kernels/cholesky_solve.h"

#include "kernels/triangular_cpu.h"

namespace engram::cpu {

Status cholesky_solve(Stream /*stream*/, GramView g, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  if (g.size == 0 || x.rows == 0) return Status();
  if (x.rows == 1) {
    solve_upper_transposed(g, x.data, 1);
    solve_upper(g, x.data, 1);
  } else {
    solve_upper_transposed(g, x);
    solve_upper(g, x);
  }
  return Status();
}

}  // namespace engram::cpu
