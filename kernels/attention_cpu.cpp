// attention on the CPU. Math, shapes and numerics: attention.h; how it is cut: attention_cpu.h.
#include "kernels/attention_cpu.h"

#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

void attend(const AttentionHead& head, int tokens, float scale, float* out, int out_stride,
            float* logsums) {
  alignas(64) float memory[kAttentionScores];
  float sums[kAttentionRows];
  const AttentionBlocks blocks(tokens);
  for (int first = 0; first < tokens; first += blocks.rows) {
    const int count = std::min(blocks.rows, tokens - first);
    const MatrixView<float> scores{memory, count, tokens, blocks.stride};
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, tokens, head.width, scale,
                head.q + std::ptrdiff_t{head.stride} * first, head.stride, head.k, head.stride,
                0.0f, memory, blocks.stride);
    softmax_rows(scores, sums, logsums + first);
    float* const to = out + std::ptrdiff_t{out_stride} * first;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, head.width, tokens, 1.0f, memory,
                blocks.stride, head.v, head.stride, 0.0f, to, out_stride);
    for (int r = 0; r < count; ++r) {
      float* const row = to + std::ptrdiff_t{out_stride} * r;
      const float share = 1.0f / sums[r];
      for (int i = 0; i < head.width; ++i) row[i] *= share;
    }
  }
}

}  // namespace

Status attention(Stream /*stream*/, MatrixView<const float> qkv, int tokens, int heads, float scale,
                 MatrixView<float> out, MatrixView<float> logsums) {
  check_attention(qkv, tokens, heads, out, logsums);
  parallel_for(logsums.rows, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const AttentionHead head(qkv, tokens, heads, i);
      attend(head, tokens, scale, out.row(head.top) + head.left, out.stride, logsums.row(i));
    }
  });
  return Status();
}

}  // namespace engram::cpu
