// unit_rows_back on the GPU: a warp for each row. Math, shapes and numerics: unit_rows_back.h.
#include "kernels/unit_rows_back.h"

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// grid (ceil(R / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    unit_rows_back_kernel(MatrixView<const float> dy, MatrixView<const float> y,
                          MatrixView<const float> lengths, MatrixView<float> dx) {
  const int lane = static_cast<int>(threadIdx.x);
  const int r = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  if (r >= dy.rows) return;  // the whole warp
  double product = 0.0;
  for (int c = lane; c < dy.cols; c += 32) {
    product = fma(static_cast<double>(dy(r, c)), static_cast<double>(y(r, c)), product);
  }
  product = warp_sum(product);
  const float along = static_cast<float>(product), length = lengths(0, r);
  for (int c = lane; c < dy.cols; c += 32) {
    dx(r, c) = length == 0.0f ? 0.0f : (dy(r, c) - along * y(r, c)) / length;
  }
}

}  // namespace

Status unit_rows_back(Stream stream, MatrixView<const float> dy, MatrixView<const float> y,
                      MatrixView<const float> lengths, MatrixView<float> dx) {
  ENGRAM_CHECK(y.rows == dy.rows && y.cols == dy.cols && dx.rows == dy.rows && dx.cols == dy.cols);
  ENGRAM_CHECK(lengths.rows == 1 && lengths.cols == dy.rows);
  if (dy.rows == 0 || dy.cols == 0) return Status();
  const dim3 grid(static_cast<unsigned>(divide_up(dy.rows, kWarps)));
  return launch(unit_rows_back_kernel, {grid, dim3(32, kWarps)}, stream, dy, y, lengths, dx);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
