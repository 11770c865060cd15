// scale_shift_back on the GPU: each number read once. Math, shapes and numerics: scale_shift_back.h.
//
// A block owns 32 columns: neighbouring lanes read neighbouring numbers, each warp takes every
// kWarps-th row, and the warps' sums are added in the same order every time.
#include "kernels/scale_shift_back.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 16;

// grid (ceil(C / 32)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    scale_shift_back_kernel(MatrixView<const float> dz, MatrixView<const float> y,
                            MatrixView<const float> scale, MatrixView<float> dy,
                            MatrixView<float> dscale, MatrixView<float> dshift) {
  ENGRAM_SHARED(float, scales, [kWarps][32]);
  ENGRAM_SHARED(float, shifts, [kWarps][32]);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int c = static_cast<int>(blockIdx.x) * 32 + lane;
  float sum_scale = 0.0f, sum_shift = 0.0f;
  if (c < dz.cols) {
    const float factor = scale(0, c);
#pragma unroll 4
    for (int r = warp; r < dz.rows; r += kWarps) {
      const float gradient = dz(r, c);  // before dy is written, which may be the same memory
      sum_scale = fmaf(gradient, y(r, c), sum_scale);
      sum_shift += gradient;
      dy(r, c) = factor * gradient;
    }
  }
  scales[warp][lane] = sum_scale;
  shifts[warp][lane] = sum_shift;
  __syncthreads();
  if (warp == 0 && c < dz.cols) {
    float all_scale = 0.0f, all_shift = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      all_scale += scales[w][lane];
      all_shift += shifts[w][lane];
    }
    dscale(0, c) += all_scale;
    dshift(0, c) += all_shift;
  }
}

}  // namespace

Status scale_shift_back(Stream stream, MatrixView<const float> dz, MatrixView<const float> y,
                        MatrixView<const float> scale, MatrixView<float> dy,
                        MatrixView<float> dscale, MatrixView<float> dshift) {
  ENGRAM_CHECK(y.rows == dz.rows && y.cols == dz.cols && dy.rows == dz.rows && dy.cols == dz.cols);
  ENGRAM_CHECK(scale.rows == 1 && scale.cols == dz.cols);
  ENGRAM_CHECK(dscale.rows == 1 && dscale.cols == dz.cols);
  ENGRAM_CHECK(dshift.rows == 1 && dshift.cols == dz.cols);
  if (dz.rows == 0 || dz.cols == 0) return Status();
  const dim3 grid(static_cast<unsigned>(divide_up(dz.cols, 32)));
  return launch(scale_shift_back_kernel, {grid, dim3(32, kWarps)}, stream, dz, y, scale, dy, dscale,
                dshift);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
