// feature_score on the GPU: limited by reading Wf, once for 16 frames. A warp owns a class and up to
// kFrames frames, and adds its lanes up in the same order every time. Math and shapes:
// feature_score.h.
#include "kernels/feature_score.h"

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// grid (ceil(K / kWarps), ceil(B / kFrames)), block (32, kWarps).
template <int kFrames>
__global__ void __launch_bounds__(32 * kWarps)
    feature_score_kernel(MatrixView<const std::int8_t> q, MatrixView<const float> weights,
                         MatrixView<float> s) {
  const int lane = static_cast<int>(threadIdx.x);
  const int k = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  const int first = static_cast<int>(blockIdx.y) * kFrames;
  if (k >= weights.rows) return;  // the whole warp
  float sum[kFrames] = {};
#pragma unroll 4
  for (int l = lane; l < weights.cols; l += 32) {
    const float weight = weights(k, l);
#pragma unroll
    for (int i = 0; i < kFrames; ++i) {  // frames that are not there repeat the last
      sum[i] = fmaf(static_cast<float>(q(min(first + i, q.rows - 1), l)), weight, sum[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kFrames; ++i) {
    const float total = warp_sum(sum[i]);
    if (lane == 0 && first + i < s.rows) s(first + i, k) += total;
  }
}

template <int kFrames>
Status launch_frames(Stream stream, MatrixView<const std::int8_t> q,
                     MatrixView<const float> weights, MatrixView<float> s) {
  const dim3 grid(static_cast<unsigned>(divide_up(s.cols, kWarps)),
                  static_cast<unsigned>(divide_up(s.rows, kFrames)));
  return launch(feature_score_kernel<kFrames>, {grid, dim3(32, kWarps)}, stream, q, weights, s);
}

}  // namespace

Status feature_score(Stream stream, MatrixView<const std::int8_t> q,
                     MatrixView<const float> weights, MatrixView<float> s) {
  ENGRAM_CHECK(q.cols == weights.cols);
  ENGRAM_CHECK(s.rows == q.rows && s.cols == weights.rows);
  if (s.rows == 0 || s.cols == 0) return Status();
  if (s.rows == 1) return launch_frames<1>(stream, q, weights, s);
  if (s.rows <= 4) return launch_frames<4>(stream, q, weights, s);
  return launch_frames<16>(stream, q, weights, s);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
