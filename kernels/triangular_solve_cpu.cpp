// triangular_solve on the CPU: blocks of OpenBLAS on our threads. Math and shapes:
// triangular_solve.h.
#include "kernels/triangular_solve.h"

#include "kernels/triangular_cpu.h"

namespace engram::cpu {

Status triangular_solve(Stream /*stream*/, GramView g, bool transposed, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  if (g.size == 0 || x.rows == 0) return Status();
  if (x.rows == 1) {
    transposed ? solve_upper_transposed(g, x.data, 1) : solve_upper(g, x.data, 1);
  } else {
    transposed ? solve_upper_transposed(g, x) : solve_upper(g, x);
  }
  return Status();
}

}  // namespace engram::cpu
