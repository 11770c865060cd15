// cholesky on the GPU: a turned copy, then cuSOLVER in place. Math and shapes: cholesky.h.
#include "kernels/cholesky.h"

#include "kernels/factor_device.h"
#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status cholesky(Stream stream, float lambda, MatrixView<const float> held_out, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(held_out.rows == 0 || held_out.cols == g.size);
  if (g.size == 0) return Status();
  ENGRAM_TRY(copy_gram_rows(stream, lambda, 0, g));
  ENGRAM_TRY(blas_add_gram_upper(stream, -1.0f,
                                 {held_out.data, held_out.rows, g.size, held_out.stride},
                                 {g.data, g.size, g.size, g.stride}));
  return factor_block(stream, 0, g);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
