// factor_append on the GPU: cuBLAS and cuSOLVER. Math and shapes: factor_append.h.
#include "kernels/factor_append.h"

#include "kernels/factor_device.h"
#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status factor_append(Stream stream, float lambda, int known, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(known >= 0 && known <= g.size);
  const int added = g.size - known;
  if (added == 0) return Status();

  ENGRAM_TRY(copy_gram_rows(stream, lambda, known, g));
  if (known > 0) {
    const MatrixView<float> right{g.data + known, known, added, g.stride};  // U12
    ENGRAM_TRY(blas_solve_upper(stream, {g.data, known, known, g.stride}, /*turned=*/true,
                                Sides::columns, right));
    ENGRAM_TRY(
        blas_add_gram_upper(stream, -1.0f, right, {g.row(known) + known, added, added, g.stride}));
  }
  return factor_block(stream, known, g);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
