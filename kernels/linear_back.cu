// linear_back on the GPU: cuBLAS. Math and shapes: linear_back.h.
#include "kernels/linear_back.h"

#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {

Status linear_back(Stream stream, MatrixView<const float> dy, MatrixView<const float> w, bool add,
                   MatrixView<float> dx) {
  ENGRAM_CHECK(w.rows > 0 && dy.cols == w.rows && dx.rows == dy.rows && dx.cols == w.cols);
  return blas_multiply(stream, 1.0f, plain(dy), plain(w), add ? 1.0f : 0.0f, dx);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
