// embed_tokens on the CPU. Math and shapes: embed_tokens.h.
#include "kernels/embed_tokens.h"

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16;  // rows per piece of work: about 50 KB

}  // namespace

Status embed_tokens(Stream /*stream*/, MatrixView<const float> e, MatrixView<const float> prefix,
                    MatrixView<const float> positions, int tokens, MatrixView<float> x) {
  const int patches = positions.rows - prefix.rows;
  ENGRAM_CHECK(patches >= 0 && tokens >= 1 && tokens >= positions.rows);
  ENGRAM_CHECK(e.cols == x.cols && prefix.cols == x.cols && positions.cols == x.cols);
  ENGRAM_CHECK(x.rows % tokens == 0 && e.rows == x.rows / tokens * patches);
  parallel_for(x.rows, kGrain, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const int b = r / tokens, token = r % tokens;
      if (token >= positions.rows) continue;  // a prompt's
      const float* const from =
          token < prefix.rows ? prefix.row(token) : e.row(b * patches + token - prefix.rows);
      const float* const position = positions.row(token);
      float* const to = x.row(r);
      for (int c = 0; c < x.cols; ++c) to[c] = from[c] + position[c];
    }
  });
  return Status();
}

}  // namespace engram::cpu
