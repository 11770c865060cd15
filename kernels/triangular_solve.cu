// triangular_solve on the GPU: cuBLAS. Math and shapes: triangular_solve.h.
#include "kernels/triangular_solve.h"

#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status triangular_solve(Stream stream, GramView g, bool transposed, MatrixView<float> x) {
  ENGRAM_CHECK(x.cols == g.size);
  return blas_solve_upper(stream, {g.data, g.size, g.size, g.stride}, transposed, Sides::rows, x);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
