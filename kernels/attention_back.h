// attention_back: the gradient through attention, with its probabilities computed again.
//
//     p[i,j]  = exp(scale * q[i] . k[j] - logsum[i])          within one picture and head
//     da[i,j] = p[i,j] (dout[i] . v[j] - dout[i] . out[i])
//     dq[i]   = scale * sum over j of da[i,j] k[j]
//     dk[j]   = scale * sum over i of da[i,j] q[i]
//     dv[j]   = sum over i of p[i,j] dout[i]
//
//   name      shape         type     meaning
//   dout      (B * S, D)    float
//   qkv       (B * S, 3 D)  float    what attention was given, with its tokens, heads and scale
//   out       (B * S, D)    float    what it gave
//   logsums   (B * H, S)    float    the same
//   dqkv      (B * S, 3 D)  float    dq, dk and dv side by side, written in full
//
// Numerics. Float sums: the order is the backend's, and the same for every number of threads.
// Memory. As attention: a block of rows of a head at a time.
#pragma once

#include "kernels/attention.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using AttentionBack = Status(Stream stream, MatrixView<const float> dout,
                             MatrixView<const float> qkv, MatrixView<const float> out,
                             MatrixView<const float> logsums, int tokens, int heads, float scale,
                             MatrixView<float> dqkv);

namespace cpu {
AttentionBack attention_back;  // attention_back_cpu.cpp
}
namespace cuda {
AttentionBack attention_back;  // attention_back.cu, compiled by nvcc
}
namespace simt {
AttentionBack attention_back;  // attention_back.cu, compiled by the host compiler
}

}  // namespace engram
