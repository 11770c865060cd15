// inverse_diagonal on the GPU: columns of the inverse by cuBLAS, their squares by a kernel. Math
// and shapes: inverse_diagonal.h.
#include "kernels/inverse_diagonal.h"

#include "kernels/warp_sum_device.h"
#include "platform/device_blas.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kColumns = 512;  // of the inverse at a time: more would compute more of its zeros
constexpr int kThreads = 256;
constexpr int kWarp = 32;

// Columns [first, first + x.cols) of the identity, down to the last row that is not zero.
__global__ void __launch_bounds__(kThreads) identity_kernel(int first, MatrixView<float> x) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  for (int r = static_cast<int>(blockIdx.y); r < x.rows; r += static_cast<int>(gridDim.y)) {
    x(r, c) = r == first + c ? 1.0f : 0.0f;
  }
}

__global__ void __launch_bounds__(kThreads) zero_kernel(MatrixView<float> d) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c < d.cols) d(0, c) = 0.0f;
}

// d[r] += the squares of row r, a warp for each row.
__global__ void __launch_bounds__(kThreads)
    add_squares_kernel(MatrixView<const float> x, MatrixView<float> d) {
  const int thread = static_cast<int>(threadIdx.x);
  const int r = static_cast<int>(blockIdx.x) * (kThreads / kWarp) + thread / kWarp;
  const int lane = thread % kWarp;
  if (r >= x.rows) return;  // the whole warp
  float sum = 0.0f;
  for (int c = lane; c < x.cols; c += kWarp) sum += x(r, c) * x(r, c);
  sum = warp_sum(sum);
  if (lane == 0) d(0, r) += sum;
}

}  // namespace

Status inverse_diagonal(Stream stream, GramView g, MatrixView<float> scratch, MatrixView<float> d) {
  ENGRAM_CHECK(scratch.rows >= g.size && scratch.cols >= 1);
  ENGRAM_CHECK(d.rows == 1 && d.cols == g.size);
  if (g.size == 0) return Status();
  ENGRAM_TRY(launch(zero_kernel, elementwise(1, d.cols, kThreads), stream, d));
  const int width = min(scratch.cols, kColumns);
  for (int first = 0; first < g.size; first += width) {
    const int columns = min(width, g.size - first), height = first + columns;
    const MatrixView<float> x{scratch.data, height, columns, scratch.stride};
    ENGRAM_TRY(launch(identity_kernel, elementwise(height, columns, kThreads), stream, first, x));
    ENGRAM_TRY(blas_solve_upper(stream, {g.data, height, height, g.stride}, /*turned=*/false,
                                Sides::columns, x));
    const auto blocks = static_cast<unsigned>(divide_up(height, kThreads / kWarp));
    ENGRAM_TRY(launch(add_squares_kernel, {dim3(blocks), dim3(kThreads)}, stream, x, d));
  }
  return Status();
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
