// attention: every token of a picture looks at all tokens of it, in several heads.
//
//     a[i,j]   = scale * q[i] . k[j]                          within one picture and head
//     out[i]   = sum over j of exp(a[i,j] - logsum[i]) v[j],  logsum[i] = log of sum over j of exp(a[i,j])
//
//   name      shape         type     meaning
//   qkv       (B * S, 3 D)  float    q, k and v of a token side by side; in each, the heads, D / H numbers
//   tokens                  int      S, tokens of a picture; 1 to 16384
//   heads                   int      H, divides D; D / H is at most 128
//   scale                   float
//   out       (B * S, D)    float    written in full, the heads side by side
//   logsums   (B * H, S)    float    written in full, for the way back
//
// Numerics. Softmax from the largest a of a row, which is exact for any size. Float sums: the order is
// the backend's, and the same for every number of threads.
// Memory. The S x S matrix of a head never exists: a block of its rows at a time.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

inline constexpr int kAttentionTokens = 16384;  // most in a picture
inline constexpr int kAttentionHead = 128;      // widest head

inline void check_attention(MatrixView<const float> qkv, int tokens, int heads,
                            MatrixView<const float> out, MatrixView<const float> logsums) {
  ENGRAM_CHECK(tokens >= 1 && tokens <= kAttentionTokens && heads >= 1 && out.cols % heads == 0);
  ENGRAM_CHECK(out.cols >= heads && out.cols / heads <= kAttentionHead && qkv.cols == 3 * out.cols);
  ENGRAM_CHECK(qkv.rows % tokens == 0 && out.rows == qkv.rows);
  ENGRAM_CHECK(logsums.rows == qkv.rows / tokens * heads && logsums.cols == tokens);
}

// One signature for all backends: a backend that drifts from it does not link.
using Attention = Status(Stream stream, MatrixView<const float> qkv, int tokens, int heads,
                         float scale, MatrixView<float> out, MatrixView<float> logsums);

namespace cpu {
Attention attention;  // attention_cpu.cpp
}
namespace cuda {
Attention attention;  // attention.cu, compiled by nvcc
}
namespace simt {
Attention attention;  // attention.cu, compiled by the host compiler
}

}  // namespace engram
