// quantise on the GPU: one thread for each feature. Math, shapes and numerics: quantise.h.
#include "kernels/quantise.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    quantise_kernel(MatrixView<const float> f, float scale, MatrixView<std::int8_t> q) {
  const int l = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (l >= f.cols) return;
  for (int b = static_cast<int>(blockIdx.y); b < f.rows; b += static_cast<int>(gridDim.y)) {
    float value = f(b, l) * scale;
    value = value > 127.0f ? 127.0f : value;  // before rounding: the limits are whole numbers
    value = value < -127.0f ? -127.0f : value;
    value = value == value ? value : 0.0f;  // NaN
    q(b, l) = static_cast<std::int8_t>(__float2int_rn(value));
  }
}

}  // namespace

Status quantise(Stream stream, MatrixView<const float> f, float scale, MatrixView<std::int8_t> q) {
  ENGRAM_CHECK(q.rows == f.rows && q.cols == f.cols);
  if (f.rows == 0 || f.cols == 0) return Status();
  return launch(quantise_kernel, elementwise(f.rows, f.cols, kThreads), stream, f, scale, q);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
