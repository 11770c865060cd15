// sum_tokens on the GPU: a thread for each sum, which goes through the pictures in their order. Math and
// shapes: sum_tokens.h.
#include "kernels/sum_tokens.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    sum_tokens_kernel(int first, int tokens, MatrixView<float> dx, MatrixView<float> drows) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= dx.cols) return;
  for (int p = static_cast<int>(blockIdx.y); p < drows.rows; p += static_cast<int>(gridDim.y)) {
    float sum = 0.0f;
#pragma unroll 4
    for (int r = first + p; r < dx.rows; r += tokens) {
      sum += dx(r, c);
      dx(r, c) = 0.0f;
    }
    drows(p, c) += sum;
  }
}

}  // namespace

Status sum_tokens(Stream stream, int first, int tokens, MatrixView<float> dx,
                  MatrixView<float> drows) {
  ENGRAM_CHECK(first >= 0 && tokens >= 1 && first + drows.rows <= tokens);
  ENGRAM_CHECK(drows.cols == dx.cols && dx.rows % tokens == 0);
  if (drows.rows == 0 || dx.rows == 0 || dx.cols == 0) return Status();
  return launch(sum_tokens_kernel, elementwise(drows.rows, dx.cols, kThreads), stream, first,
                tokens, dx, drows);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
