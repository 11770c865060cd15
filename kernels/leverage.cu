// leverage on the GPU: limited by reading the probes, once for 16 frames. Math and shapes:
// leverage.h.
//
// products_kernel: a block owns kProbes probes and kFrames frames; its warps share the units, so that
// one frame keeps the whole GPU reading, and are added up in the same order every time.
// squares_kernel: a warp owns a frame.
#include "kernels/leverage.h"

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;

// grid (ceil(R / kProbes), ceil(B / kFrames)), block (32, kWarps).
template <int kFrames, int kProbes>
__global__ void __launch_bounds__(kThreads)
    products_kernel(MatrixView<const float> h, MatrixView<const std::int16_t> probes,
                    MatrixView<const float> scales, MatrixView<float> products) {
  constexpr int kSums = kFrames * kProbes;
  ENGRAM_SHARED(float, parts, [kWarps][kSums]);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int first_r = static_cast<int>(blockIdx.x) * kProbes;
  const int first_b = static_cast<int>(blockIdx.y) * kFrames;
  float sum[kSums] = {};
#pragma unroll 4
  for (int m = 32 * warp + lane; m < probes.cols; m += kThreads) {
    float value[kProbes];
#pragma unroll
    for (int j = 0; j < kProbes; ++j) {  // rows that are not there repeat the last
      value[j] = static_cast<float>(probes(min(first_r + j, probes.rows - 1), m));
    }
#pragma unroll
    for (int i = 0; i < kFrames; ++i) {
      const float unit = h(min(first_b + i, h.rows - 1), m);
#pragma unroll
      for (int j = 0; j < kProbes; ++j) {
        sum[kProbes * i + j] = fmaf(unit, value[j], sum[kProbes * i + j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const float part = warp_sum(sum[i]);
    if (lane == 0) parts[warp][i] = part;
  }
  __syncthreads();
  const int i = 32 * warp + lane, b = first_b + i / kProbes, r = first_r + i % kProbes;
  if (i < kSums && b < products.rows && r < products.cols) {
    float all = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all += parts[w][i];
    products(b, r) = scales(0, r) * all;
  }
}

// grid (ceil(B / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(kThreads)
    squares_kernel(MatrixView<const float> products, MatrixView<float> leverages) {
  const int b = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  if (b >= products.rows) return;  // the whole warp
  float sum = 0.0f;
  for (int r = static_cast<int>(threadIdx.x); r < products.cols; r += 32) {
    sum = fmaf(products(b, r), products(b, r), sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    leverages(0, b) = products.cols > 0 ? sum / static_cast<float>(products.cols) : 0.0f;
  }
}

template <int kFrames, int kProbes>
Status launch_products(Stream stream, MatrixView<const float> h,
                       MatrixView<const std::int16_t> probes, MatrixView<const float> scales,
                       MatrixView<float> products) {
  static_assert(kFrames * kProbes <= kThreads);  // one thread for each sum
  const dim3 grid(static_cast<unsigned>(divide_up(probes.rows, kProbes)),
                  static_cast<unsigned>(divide_up(h.rows, kFrames)));
  return launch(products_kernel<kFrames, kProbes>, {grid, dim3(32, kWarps)}, stream, h, probes,
                scales, products);
}

}  // namespace

Status leverage(Stream stream, MatrixView<const float> h, MatrixView<const std::int16_t> probes,
                MatrixView<const float> scales, MatrixView<float> products,
                MatrixView<float> leverages) {
  ENGRAM_CHECK(h.cols == probes.cols && scales.rows == 1 && scales.cols == probes.rows);
  ENGRAM_CHECK(products.rows == h.rows && products.cols == probes.rows);
  ENGRAM_CHECK(leverages.rows == 1 && leverages.cols == h.rows);
  if (h.rows == 0) return Status();
  if (probes.rows > 0) {
    const auto of_frames = h.rows == 1   ? launch_products<1, 1>
                           : h.rows <= 4 ? launch_products<4, 1>
                                         : launch_products<16, 2>;
    ENGRAM_TRY(of_frames(stream, h, probes, scales, products));
  }
  return launch(squares_kernel,
                {dim3(static_cast<unsigned>(divide_up(h.rows, kWarps))), dim3(32, kWarps)}, stream,
                products, leverages);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
