// set_tokens on the GPU: a thread for each number that is written. Math and shapes: set_tokens.h.
#include "kernels/set_tokens.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

// `count`: rows that are written, of all pictures.
__global__ void __launch_bounds__(kThreads)
    set_tokens_kernel(MatrixView<const float> rows, int first, int tokens, int count,
                      MatrixView<float> x) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  for (int i = static_cast<int>(blockIdx.y); i < count; i += static_cast<int>(gridDim.y)) {
    const int b = i / rows.rows, p = i % rows.rows;
    x(b * tokens + first + p, c) = rows(p, c);
  }
}

}  // namespace

Status set_tokens(Stream stream, MatrixView<const float> rows, int first, int tokens,
                  MatrixView<float> x) {
  ENGRAM_CHECK(first >= 0 && tokens >= 1 && first + rows.rows <= tokens);
  ENGRAM_CHECK(rows.cols == x.cols && x.rows % tokens == 0);
  const int count = x.rows / tokens * rows.rows;
  if (count == 0 || x.cols == 0) return Status();
  return launch(set_tokens_kernel, elementwise(count, x.cols, kThreads), stream, rows, first,
                tokens, count, x);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
