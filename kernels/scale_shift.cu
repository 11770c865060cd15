// scale_shift on the GPU: one thread for each element. Math, shapes and numerics: scale_shift.h.
#include "kernels/scale_shift.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    scale_shift_kernel(MatrixView<const float> y, MatrixView<const float> scale,
                       MatrixView<const float> shift, MatrixView<float> z) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= y.cols) return;
  const float factor = scale(0, c), more = shift(0, c);
  for (int r = static_cast<int>(blockIdx.y); r < y.rows; r += static_cast<int>(gridDim.y)) {
    z(r, c) = factor * y(r, c) + more;
  }
}

}  // namespace

Status scale_shift(Stream stream, MatrixView<const float> y, MatrixView<const float> scale,
                   MatrixView<const float> shift, MatrixView<float> z) {
  ENGRAM_CHECK(scale.rows == 1 && scale.cols == y.cols && shift.rows == 1 && shift.cols == y.cols);
  ENGRAM_CHECK(z.rows == y.rows && z.cols == y.cols);
  if (y.rows == 0 || y.cols == 0) return Status();
  return launch(scale_shift_kernel, elementwise(y.rows, y.cols, kThreads), stream, y, scale, shift,
                z);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
