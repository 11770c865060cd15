// project on the GPU: limited by reading W, once for eight frames. Math and shapes: project.h.
#include "kernels/project.h"

#include "kernels/column_sums_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

__device__ __forceinline__ float apply(Nonlinearity phi, float value) {
  if (phi == Nonlinearity::relu) return value < 0.0f ? 0.0f : value;  // NaN stays NaN
  return phi == Nonlinearity::square ? value * value : value;
}

__global__ void __launch_bounds__(kSumThreads)
    project_kernel(MatrixView<const float> f, MatrixView<const float> w, Nonlinearity phi,
                   MatrixView<float> h) {
  const int m = column_of_thread(), first = static_cast<int>(blockIdx.y) * kSumRows;
  if (m >= h.cols) return;
  ColumnSums sum = {};
  column_sums(f, first, w.data, w.stride, w.cols, m, sum);
#pragma unroll
  for (int i = 0; i < kSumRows * kSumCols; ++i) {
    const int r = i / kSumCols, c = i % kSumCols, col = m + kSumThreads * c;
    if (first + r < h.rows && col < h.cols) h(first + r, col) = apply(phi, sum[r][c]);
  }
}

}  // namespace

Status project(Stream stream, MatrixView<const float> f, MatrixView<const float> w,
               Nonlinearity phi, MatrixView<float> h) {
  ENGRAM_CHECK(f.cols == w.rows);
  ENGRAM_CHECK(h.rows == f.rows && h.cols == w.cols);
  if (h.rows == 0 || h.cols == 0) return Status();
  return launch(project_kernel, column_sums_geometry(h.rows, h.cols), stream, f, w, phi, h);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
