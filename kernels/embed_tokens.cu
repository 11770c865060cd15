// embed_tokens on the GPU: a thread for each number of a token. Math and shapes: embed_tokens.h.
#include "kernels/embed_tokens.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    embed_tokens_kernel(MatrixView<const float> e, MatrixView<const float> prefix,
                        MatrixView<const float> positions, int tokens, MatrixView<float> x) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  const int patches = positions.rows - prefix.rows;
  for (int r = static_cast<int>(blockIdx.y); r < x.rows; r += static_cast<int>(gridDim.y)) {
    const int b = r / tokens, token = r % tokens;
    if (token >= positions.rows) continue;  // a prompt's
    const bool is_prefix = token < prefix.rows;
    const int patch = b * patches + token - prefix.rows;
    x(r, c) = (is_prefix ? prefix(token, c) : e(patch, c)) + positions(token, c);
  }
}

}  // namespace

Status embed_tokens(Stream stream, MatrixView<const float> e, MatrixView<const float> prefix,
                    MatrixView<const float> positions, int tokens, MatrixView<float> x) {
  const int patches = positions.rows - prefix.rows;
  ENGRAM_CHECK(patches >= 0 && tokens >= 1 && tokens >= positions.rows);
  ENGRAM_CHECK(e.cols == x.cols && prefix.cols == x.cols && positions.cols == x.cols);
  ENGRAM_CHECK(x.rows % tokens == 0 && e.rows == x.rows / tokens * patches);
  if (x.rows == 0 || x.cols == 0) return Status();
  return launch(embed_tokens_kernel, elementwise(x.rows, x.cols, kThreads), stream, e, prefix,
                positions, tokens, x);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
