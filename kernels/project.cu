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
  const int m = static_cast<int>(blockIdx.x) * kSumThreads + static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.y) * kSumRows;
  if (m >= h.cols) return;
  float sum[kSumRows] = {};
  column_sums(f, first, w.data, w.stride, m, sum);
#pragma unroll
  for (int r = 0; r < kSumRows; ++r) {
    if (first + r < h.rows) h(first + r, m) = apply(phi, sum[r]);
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
