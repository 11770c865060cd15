// sgd_step on the GPU: one thread for each element. Math, shapes and numerics: sgd_step.h.
#include "kernels/sgd_step.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    sgd_step_kernel(MatrixView<const float> g, float rate, float momentum, float decay,
                    MatrixView<float> v, MatrixView<float> p) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= g.cols) return;
  for (int r = static_cast<int>(blockIdx.y); r < g.rows; r += static_cast<int>(gridDim.y)) {
    const float parameter = p(r, c);
    const float now = momentum * v(r, c) + (g(r, c) + decay * parameter);
    v(r, c) = now;
    p(r, c) = parameter - rate * now;
  }
}

}  // namespace

Status sgd_step(Stream stream, MatrixView<const float> g, float rate, float momentum, float decay,
                MatrixView<float> v, MatrixView<float> p) {
  ENGRAM_CHECK(v.rows == g.rows && v.cols == g.cols && p.rows == g.rows && p.cols == g.cols);
  if (g.rows == 0 || g.cols == 0) return Status();
  return launch(sgd_step_kernel, elementwise(g.rows, g.cols, kThreads), stream, g, rate, momentum,
                decay, v, p);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
