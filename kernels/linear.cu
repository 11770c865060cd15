// linear on the GPU: the bias in every row, then cuBLAS adds the product. Math and shapes: linear.h.
#include "kernels/linear.h"

#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    bias_kernel(MatrixView<const float> b, MatrixView<float> y) {
  const int o = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (o >= y.cols) return;
  const float bias = b(0, o);
  for (int r = static_cast<int>(blockIdx.y); r < y.rows; r += static_cast<int>(gridDim.y)) {
    y(r, o) = bias;
  }
}

}  // namespace

Status linear(Stream stream, MatrixView<const float> x, MatrixView<const float> w,
              MatrixView<const float> b, MatrixView<float> y) {
  ENGRAM_CHECK(w.cols > 0 && x.cols == w.cols && y.rows == x.rows && y.cols == w.rows);
  ENGRAM_CHECK(b.rows == 0 || (b.rows == 1 && b.cols == w.rows));
  if (y.rows == 0 || y.cols == 0) return Status();
  const bool has_bias = b.rows == 1;
  if (has_bias) {
    ENGRAM_TRY(launch(bias_kernel, elementwise(y.rows, y.cols, kThreads), stream, b, y));
  }
  return blas_multiply(stream, 1.0f, plain(x), turned(w), has_bias ? 1.0f : 0.0f, y);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
