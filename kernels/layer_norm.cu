// layer_norm on the GPU: a warp owns a row and reads it three times, twice from the cache. Math, shapes
// and numerics: layer_norm.h.
#include "kernels/layer_norm.h"

#include "kernels/warp_sum_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// grid (ceil(R / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    layer_norm_kernel(MatrixView<const float> x, const float* weight, const float* bias,
                      float epsilon, MatrixView<float> y, MatrixView<float> stats) {
  const int r = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  if (r >= x.rows) return;  // the whole warp
  const int lane = static_cast<int>(threadIdx.x);
  const float share = 1.0f / static_cast<float>(x.cols);
  float sum = 0.0f, squares = 0.0f;
#pragma unroll 4
  for (int c = lane; c < x.cols; c += 32) sum += x(r, c);
  const float mean = warp_sum(sum) * share;
#pragma unroll 4
  for (int c = lane; c < x.cols; c += 32) {
    squares = fmaf(x(r, c) - mean, x(r, c) - mean, squares);
  }
  const float scale = 1.0f / sqrtf(fmaf(warp_sum(squares), share, epsilon));
#pragma unroll 4
  for (int c = lane; c < x.cols; c += 32) {
    y(r, c) = fmaf((x(r, c) - mean) * scale, weight[c], bias[c]);
  }
  if (lane == 0) {
    stats(r, 0) = mean;
    stats(r, 1) = scale;
  }
}

}  // namespace

Status layer_norm(Stream stream, MatrixView<const float> x, MatrixView<const float> weight,
                  MatrixView<const float> bias, float epsilon, MatrixView<float> y,
                  MatrixView<float> stats) {
  ENGRAM_CHECK(x.cols >= 1 && epsilon > 0.0f);
  ENGRAM_CHECK(weight.rows == 1 && weight.cols == x.cols);
  ENGRAM_CHECK(bias.rows == 1 && bias.cols == x.cols);
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols && stats.rows == x.rows && stats.cols == 2);
  if (x.rows == 0) return Status();
  return launch(layer_norm_kernel,
                {dim3(static_cast<unsigned>(divide_up(x.rows, kWarps))), dim3(32, kWarps)}, stream,
                x, weight.data, bias.data, epsilon, y, stats);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
