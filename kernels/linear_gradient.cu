// linear_gradient on the GPU: cuBLAS for the weights, a kernel for the bias. Math and shapes:
// linear_gradient.h.
//
// A block owns 32 columns: neighbouring lanes read neighbouring numbers, each warp takes every
// kWarps-th row, and the warps' sums are added in the same order every time.
#include "kernels/linear_gradient.h"

#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 16;

// grid (ceil(O / 32)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    column_sums_kernel(MatrixView<const float> dy, MatrixView<float> db) {
  ENGRAM_SHARED(float, parts, [kWarps][32]);
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int o = static_cast<int>(blockIdx.x) * 32 + lane;
  float sum = 0.0f;
  if (o < dy.cols) {
#pragma unroll 4
    for (int r = warp; r < dy.rows; r += kWarps) sum += dy(r, o);
  }
  parts[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && o < dy.cols) {
    float all = 0.0f;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all += parts[w][lane];
    db(0, o) += all;
  }
}

}  // namespace

Status linear_gradient(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                       MatrixView<float> dw, MatrixView<float> db) {
  ENGRAM_CHECK(dy.rows == x.rows && dw.rows == dy.cols && dw.cols == x.cols);
  ENGRAM_CHECK(db.rows == 0 || (db.rows == 1 && db.cols == dy.cols));
  if (dy.rows == 0 || dy.cols == 0) return Status();
  ENGRAM_TRY(blas_multiply(stream, 1.0f, turned(dy), plain(x), 1.0f, dw));
  if (db.rows == 0) return Status();
  const dim3 grid(static_cast<unsigned>(divide_up(dy.cols, 32)));
  return launch(column_sums_kernel, {grid, dim3(32, kWarps)}, stream, dy, db);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
