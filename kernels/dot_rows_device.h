// Products of float rows with float rows on the GPU: what `score` and `kernel_rows` share.
//
//     out[b,n] = sum over m of left[b,m] * right[n,m]
//
// Made for few rows on the left and long ones: a warp owns one row of `right`, reads it once for
// kRows rows of `left`, lane by lane, and adds the lanes up in the same order every time.
#pragma once

#include "platform/launch.h"
#include "platform/matrix_view.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kDotWarps = 4;
constexpr int kDotRows = 4;  // of `left`, at once

// grid (ceil(N / kDotWarps), ceil(B / kDotRows)), block (32, kDotWarps).
__global__ void __launch_bounds__(32 * kDotWarps)
    dot_rows_kernel(MatrixView<const float> left, MatrixView<const float> right,
                    MatrixView<float> out) {
  const int lane = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(blockIdx.x) * kDotWarps + static_cast<int>(threadIdx.y);
  const int first = static_cast<int>(blockIdx.y) * kDotRows;
  if (n >= right.rows) return;  // the whole warp
  float sum[kDotRows] = {};
#pragma unroll 4
  for (int m = lane; m < right.cols; m += 32) {
    const float value = right(n, m);
#pragma unroll
    for (int i = 0; i < kDotRows; ++i) {
      if (first + i < left.rows) sum[i] = fmaf(left(first + i, m), value, sum[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kDotRows; ++i) {
#pragma unroll
    for (int other = 16; other > 0; other /= 2) sum[i] += __shfl_xor_sync(~0u, sum[i], other);
    if (lane == 0 && first + i < out.rows) out(first + i, n) = sum[i];
  }
}

inline Status dot_rows(Stream stream, MatrixView<const float> left, MatrixView<const float> right,
                       MatrixView<float> out) {
  const dim3 grid(static_cast<unsigned>(divide_up(right.rows, kDotWarps)),
                  static_cast<unsigned>(divide_up(left.rows, kDotRows)));
  return launch(dot_rows_kernel, {.grid = grid, .block = dim3(32, kDotWarps)}, stream, left, right,
                out);
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
