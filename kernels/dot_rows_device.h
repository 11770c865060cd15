// Products of float rows with float rows on the GPU: what `score` and `kernel_rows` share.
//
//     out[b,n] = sum over m of left[b,m] * right[n,m]
//
// A warp owns kRight rows of `right` and kLeft of `left`, reads each number of both once, lane by
// lane, and adds the lanes up in the same order every time: a row's result is the same to the bit
// whatever it is computed with.
//
//     up to 4 rows on the left    one row of `right`: many warps, limited by reading `right`
//     more                        two rows, for 16 on the left: limited by the loads of `left`
#pragma once

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"
#include "platform/matrix_view.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kDotWarps = 4;

// grid (ceil(N / (kDotWarps kRight)), ceil(B / kLeft)), block (32, kDotWarps).
template <int kLeft, int kRight>
__global__ void __launch_bounds__(32 * kDotWarps)
    dot_rows_kernel(MatrixView<const float> left, MatrixView<const float> right,
                    MatrixView<float> out) {
  const int lane = static_cast<int>(threadIdx.x);
  const int warp = static_cast<int>(blockIdx.x) * kDotWarps + static_cast<int>(threadIdx.y);
  const int first_n = warp * kRight, first_b = static_cast<int>(blockIdx.y) * kLeft;
  if (first_n >= right.rows) return;  // the whole warp
  float sum[kLeft][kRight] = {};
#pragma unroll 4
  for (int m = lane; m < right.cols; m += 32) {
    float value[kRight];
#pragma unroll
    for (int j = 0; j < kRight; ++j) {  // rows that are not there repeat the last
      value[j] = right(min(first_n + j, right.rows - 1), m);
    }
#pragma unroll
    for (int i = 0; i < kLeft; ++i) {
      const float other = left(min(first_b + i, left.rows - 1), m);
#pragma unroll
      for (int j = 0; j < kRight; ++j) sum[i][j] = fmaf(other, value[j], sum[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kLeft; ++i) {
#pragma unroll
    for (int j = 0; j < kRight; ++j) {
      const float total = warp_sum(sum[i][j]);
      if (lane == 0 && first_b + i < out.rows && first_n + j < out.cols) {
        out(first_b + i, first_n + j) = total;
      }
    }
  }
}

template <int kLeft, int kRight>
Status launch_dot_rows(Stream stream, MatrixView<const float> left, MatrixView<const float> right,
                       MatrixView<float> out) {
  const dim3 grid(static_cast<unsigned>(divide_up(right.rows, kDotWarps * kRight)),
                  static_cast<unsigned>(divide_up(left.rows, kLeft)));
  return launch(dot_rows_kernel<kLeft, kRight>, {grid, dim3(32, kDotWarps)}, stream, left, right,
                out);
}

inline Status dot_rows(Stream stream, MatrixView<const float> left, MatrixView<const float> right,
                       MatrixView<float> out) {
  if (left.rows == 1) return launch_dot_rows<1, 1>(stream, left, right, out);
  if (left.rows <= 4) return launch_dot_rows<4, 1>(stream, left, right, out);
  return launch_dot_rows<16, 2>(stream, left, right, out);
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
