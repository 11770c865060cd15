// gelu on the GPU: a thread for each number, limited by memory. Math, shapes and numerics: gelu.h.
#include "kernels/gelu.h"

#include "kernels/gelu_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ float gelu_value(GeluKind kind, float x) {
  if (kind == GeluKind::erf) return x * normal_below(x);
  if (kind == GeluKind::relu) return x < 0.0f ? 0.0f : x;
  return x * sigmoid(kind == GeluKind::tanh ? tanh_exponent(x) : kQuick * x).value;
}

__global__ void __launch_bounds__(kThreads)
    gelu_kernel(MatrixView<const float> x, GeluKind kind, MatrixView<float> y) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  for (int r = static_cast<int>(blockIdx.y); r < x.rows; r += static_cast<int>(gridDim.y)) {
    y(r, c) = gelu_value(kind, x(r, c));
  }
}

}  // namespace

Status gelu(Stream stream, MatrixView<const float> x, GeluKind kind, MatrixView<float> y) {
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  if (x.rows == 0 || x.cols == 0) return Status();
  return launch(gelu_kernel, elementwise(x.rows, x.cols, kThreads), stream, x, kind, y);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
