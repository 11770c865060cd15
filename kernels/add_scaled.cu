// add_scaled on the GPU: one thread for each element. Math, shapes and numerics: add_scaled.h.
#include "kernels/add_scaled.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    add_scaled_kernel(MatrixView<const float> x, MatrixView<const float> a,
                      MatrixView<const float> gamma, float alpha, MatrixView<float> y) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= a.cols) return;
  const float factor = gamma.rows > 0 ? alpha * gamma(0, c) : alpha;
  for (int r = static_cast<int>(blockIdx.y); r < a.rows; r += static_cast<int>(gridDim.y)) {
    const float branch = factor * a(r, c);
    y(r, c) = x.rows > 0 ? x(r, c) + branch : branch;
  }
}

}  // namespace

Status add_scaled(Stream stream, MatrixView<const float> x, MatrixView<const float> a,
                  MatrixView<const float> gamma, float alpha, MatrixView<float> y) {
  ENGRAM_CHECK(x.rows == 0 || (x.rows == a.rows && x.cols == a.cols));
  ENGRAM_CHECK(gamma.rows == 0 || (gamma.rows == 1 && gamma.cols == a.cols));
  ENGRAM_CHECK(y.rows == a.rows && y.cols == a.cols);
  if (a.rows == 0 || a.cols == 0) return Status();
  return launch(add_scaled_kernel, elementwise(a.rows, a.cols, kThreads), stream, x, a, gamma,
                alpha, y);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
