// layer_norm_back on the GPU: a warp owns a row and reads it twice, once from the cache. Math, shapes and
// numerics: layer_norm_back.h.
#include "kernels/layer_norm_back.h"

#include "kernels/warp_sum_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// grid (ceil(R / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    layer_norm_back_kernel(MatrixView<const float> dy, MatrixView<const float> x,
                           const float* weight, MatrixView<const float> stats, bool add,
                           MatrixView<float> dx) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  if (r >= x.rows) return;  // the whole warp
  const int lane = static_cast<int>(threadIdx.x);
  const float share = 1.0f / static_cast<float>(x.cols), mean = stats(r, 0), scale = stats(r, 1);
  float sum = 0.0f, along = 0.0f;
#pragma unroll 4
  for (int c = lane; c < x.cols; c += 32) {
    const float g = dy(r, c) * weight[c];
    sum += g;
    along = fmaf(g, (x(r, c) - mean) * scale, along);
  }
  const float common = warp_sum(sum) * share, slope = warp_sum(along) * share;
#pragma unroll 4
  for (int c = lane; c < x.cols; c += 32) {
    const float g = dy(r, c) * weight[c], normal = (x(r, c) - mean) * scale;
    const float value = scale * (g - common - normal * slope);
    dx(r, c) = add ? dx(r, c) + value : value;
  }
}

}  // namespace

Status layer_norm_back(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                       MatrixView<const float> weight, MatrixView<const float> stats, bool add,
                       MatrixView<float> dx) {
  ENGRAM_CHECK(x.cols >= 1 && weight.rows == 1 && weight.cols == x.cols);
  ENGRAM_CHECK(dy.rows == x.rows && dy.cols == x.cols && stats.rows == x.rows && stats.cols == 2);
  ENGRAM_CHECK(dx.rows == x.rows && dx.cols == x.cols);
  if (x.rows == 0) return Status();
  return launch(layer_norm_back_kernel,
                {dim3(static_cast<unsigned>(divide_up(x.rows, kWarps))), dim3(32, kWarps)}, stream,
                dy, x, weight.data, stats, add, dx);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
