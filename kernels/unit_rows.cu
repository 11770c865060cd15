// unit_rows on the GPU: a warp for each row. Math, shapes and numerics: unit_rows.h.
#include "kernels/unit_rows.h"

#include "kernels/warp_sum_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// grid (ceil(R / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    unit_rows_kernel(MatrixView<const float> x, MatrixView<float> y, MatrixView<float> lengths) {
  const int lane = static_cast<int>(threadIdx.x);
  const int r = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.y);
  if (r >= x.rows) return;  // the whole warp
  double squares = 0.0;
  for (int c = lane; c < x.cols; c += 32) {
    const double value = x(r, c);
    squares = fma(value, value, squares);
  }
  squares = warp_sum(squares);
  const float length = static_cast<float>(sqrt(squares));
  const float divisor = length == 0.0f ? 1.0f : length;
  for (int c = lane; c < x.cols; c += 32) y(r, c) = x(r, c) / divisor;
  if (lane == 0) lengths(0, r) = length;
}

}  // namespace

Status unit_rows(Stream stream, MatrixView<const float> x, MatrixView<float> y,
                 MatrixView<float> lengths) {
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  ENGRAM_CHECK(lengths.rows == 1 && lengths.cols == x.rows);
  if (x.rows == 0) return Status();
  const dim3 grid(static_cast<unsigned>(divide_up(x.rows, kWarps)));
  return launch(unit_rows_kernel, {grid, dim3(32, kWarps)}, stream, x, y, lengths);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
