// gelu_back on the GPU: a thread for each number, limited by memory. Math, shapes and numerics:
// gelu_back.h.
#include "kernels/gelu_back.h"

#include "kernels/gelu_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__device__ __forceinline__ float gelu_gradient(GeluKind kind, float x, float dy) {
  if (kind == GeluKind::relu) return x > 0.0f ? dy : 0.0f;
  if (kind == GeluKind::erf) {
    const float density = 0.398942280f * expf(-0.5f * x * x);
    return dy * fmaf(x, density, normal_below(x));
  }
  // Beyond 20 tanh's slope is 0 or 1, and no power of x overflows. fminf would lose what is no number.
  const float above = x < -20.0f ? -20.0f : x;
  const float a = above > 20.0f ? 20.0f : above;
  const bool is_tanh = kind == GeluKind::tanh;
  const Sigmoid s = sigmoid(is_tanh ? tanh_exponent(a) : kQuick * a);
  const float inner = is_tanh ? fmaf(3.0f * kTanhCubic * a, a, kTanhLinear) : kQuick;
  return dy * fmaf(a * s.slope, inner, s.value);
}

__global__ void __launch_bounds__(kThreads)
    gelu_back_kernel(MatrixView<const float> dy, MatrixView<const float> x, GeluKind kind,
                     MatrixView<float> dx) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  for (int r = static_cast<int>(blockIdx.y); r < x.rows; r += static_cast<int>(gridDim.y)) {
    dx(r, c) = gelu_gradient(kind, x(r, c), dy(r, c));
  }
}

}  // namespace

Status gelu_back(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                 GeluKind kind, MatrixView<float> dx) {
  ENGRAM_CHECK(dy.rows == x.rows && dy.cols == x.cols);
  ENGRAM_CHECK(dx.rows == x.rows && dx.cols == x.cols);
  if (x.rows == 0 || x.cols == 0) return Status();
  return launch(gelu_back_kernel, elementwise(x.rows, x.cols, kThreads), stream, dy, x, kind, dx);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
