// cholesky on the CPU: a transposed copy, then LAPACK in place. Math and shapes: cholesky.h.
#include "kernels/cholesky.h"

#include "kernels/factor_cpu.h"
#include "kernels/matrix_product_cpu.h"

namespace engram::cpu {

Status cholesky(Stream /*stream*/, float lambda, MatrixView<const float> held_out, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(held_out.rows == 0 || held_out.cols == g.size);
  if (g.size == 0) return Status();

  copy_gram_rows(lambda, 0, g);
  if (held_out.rows > 0) add_gram_upper(-1.0f, held_out, {g.data, g.size, g.size, g.stride});
  return factor_block(0, g);
}

}  // namespace engram::cpu
