// cholesky_solve on the GPU: two triangular solves by cuBLAS. Math and shapes: cholesky_solve.h.
#include "kernels/cholesky_solve.h"

#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status cholesky_solve(Stream stream, GramView g, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  const MatrixView<const float> u{g.data, g.size, g.size, g.stride};
  ENGRAM_TRY(blas_solve_upper(stream, u, /*turned=*/true, Sides::rows, x));
  return blas_solve_upper(stream, u, /*turned=*/false, Sides::rows, x);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
