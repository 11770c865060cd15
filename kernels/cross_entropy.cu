// cross_entropy on the GPU: one block, because a batch has a few thousand scores and the slope by
// sigma is one sum. Math, shapes and numerics: cross_entropy.h.
//
// A warp takes every kWarps-th row and adds its slopes as it goes; the warps' are added at the end, in
// the same order every time.
#include "kernels/cross_entropy.h"

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 8;

// grid (1), block (32, kWarps). Labels live in device memory, so they are checked here: a wrong one
// stops the kernel.
__global__ void __launch_bounds__(32 * kWarps)
    cross_entropy_kernel(MatrixView<const float> cosines, MatrixView<const float> sigma,
                         MatrixView<const int> labels, float weight, MatrixView<float> losses,
                         MatrixView<float> dcosines, MatrixView<float> dsigma) {
  ENGRAM_SHARED(float, slopes, [kWarps]);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const float scale = sigma(0, 0);
  float slope = 0.0f;
  for (int b = warp; b < cosines.rows; b += kWarps) {
    const int label = labels(0, b);
    if (label < 0 || label >= cosines.cols) __trap();
    const float score = scale * cosines(b, label);
    float largest = score;
    for (int k = lane; k < cosines.cols; k += 32) largest = max(largest, scale * cosines(b, k));
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      largest = max(largest, __shfl_xor_sync(~0u, largest, step));
    }
    float sum = 0.0f;
    for (int k = lane; k < cosines.cols; k += 32) sum += expf(scale * cosines(b, k) - largest);
    sum = warp_sum(sum);
    for (int k = lane; k < cosines.cols; k += 32) {
      const float cosine = cosines(b, k), share = expf(scale * cosine - largest) / sum;
      const float gradient = weight * (k == label ? share - 1.0f : share);
      slope = fmaf(gradient, cosine, slope);
      dcosines(b, k) = scale * gradient;
    }
    if (lane == 0) losses(0, b) = logf(sum) - (score - largest);
  }
  slope = warp_sum(slope);
  if (lane == 0) slopes[warp] = slope;
  __syncthreads();
  if (warp == 0 && lane == 0) {
    float all = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all += slopes[w];
    dsigma(0, 0) += all;
  }
}

}  // namespace

Status cross_entropy(Stream stream, MatrixView<const float> cosines, MatrixView<const float> sigma,
                     MatrixView<const int> labels, float weight, MatrixView<float> losses,
                     MatrixView<float> dcosines, MatrixView<float> dsigma) {
  ENGRAM_CHECK(sigma.rows == 1 && sigma.cols == 1 && dsigma.rows == 1 && dsigma.cols == 1);
  ENGRAM_CHECK(labels.rows == 1 && labels.cols == cosines.rows);
  ENGRAM_CHECK(losses.rows == 1 && losses.cols == cosines.rows);
  ENGRAM_CHECK(dcosines.rows == cosines.rows && dcosines.cols == cosines.cols);
  if (cosines.rows == 0) return Status();
  return launch(cross_entropy_kernel, {dim3(1), dim3(32, kWarps)}, stream, cosines, sigma, labels,
                weight, losses, dcosines, dsigma);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
