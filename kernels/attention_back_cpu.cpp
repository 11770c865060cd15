// attention_back on the CPU. Math, shapes and numerics: attention_back.h; how it is cut: attention_cpu.h.
#include "kernels/attention_back.h"

#include "kernels/attention_cpu.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

// Rows of a head in dout and out, and of dq, dk and dv.
struct Gradients {
  const float *dout, *out;
  int dout_stride, out_stride;
  float *dq, *dk, *dv;
  int stride;
};

void attend_back(const AttentionHead& head, const Gradients& g, const float* logsums, int tokens,
                 float scale) {
  alignas(64) float probabilities[kAttentionScores], changes[kAttentionScores];
  float inner[kAttentionRows];
  const AttentionBlocks blocks(tokens);
  for (int first = 0; first < tokens; first += blocks.rows) {
    const int count = std::min(blocks.rows, tokens - first);
    const float* const q = head.q + std::ptrdiff_t{head.stride} * first;
    const float* const dout = g.dout + std::ptrdiff_t{g.dout_stride} * first;
    const float* const out = g.out + std::ptrdiff_t{g.out_stride} * first;
    for (int r = 0; r < count; ++r) {
      inner[r] = cblas_sdot(head.width, dout + std::ptrdiff_t{g.dout_stride} * r, 1,
                            out + std::ptrdiff_t{g.out_stride} * r, 1);
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, tokens, head.width, scale, q,
                head.stride, head.k, head.stride, 0.0f, probabilities, blocks.stride);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, count, tokens, head.width, 1.0f, dout,
                g.dout_stride, head.v, head.stride, 0.0f, changes, blocks.stride);
    softmax_gradient_rows({probabilities, count, tokens, blocks.stride}, logsums + first, inner,
                          {changes, count, tokens, blocks.stride});
    const float sum =
        first == 0 ? 0.0f : 1.0f;  // dk and dv are sums over the blocks, in their order
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, tokens, head.width, count, 1.0f,
                probabilities, blocks.stride, dout, g.dout_stride, sum, g.dv, g.stride);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, tokens, head.width, count, scale, changes,
                blocks.stride, q, head.stride, sum, g.dk, g.stride);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, head.width, tokens, scale,
                changes, blocks.stride, head.k, head.stride, 0.0f,
                g.dq + std::ptrdiff_t{g.stride} * first, g.stride);
  }
}

}  // namespace

Status attention_back(Stream /*stream*/, MatrixView<const float> dout, MatrixView<const float> qkv,
                      MatrixView<const float> out, MatrixView<const float> logsums, int tokens,
                      int heads, float scale, MatrixView<float> dqkv) {
  check_attention(qkv, tokens, heads, out, logsums);
  ENGRAM_CHECK(dout.rows == out.rows && dout.cols == out.cols);
  ENGRAM_CHECK(dqkv.rows == qkv.rows && dqkv.cols == qkv.cols);
  parallel_for(logsums.rows, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const AttentionHead head(qkv, tokens, heads, i);
      float* const dq = dqkv.row(head.top) + head.left;
      const Gradients gradients{dout.row(head.top) + head.left,
                                out.row(head.top) + head.left,
                                dout.stride,
                                out.stride,
                                dq,
                                dq + out.cols,
                                dq + 2 * out.cols,
                                dqkv.stride};
      attend_back(head, gradients, logsums.row(i), tokens, scale);
    }
  });
  return Status();
}

}  // namespace engram::cpu
