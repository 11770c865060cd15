// embed_tokens: embedded patches to the tokens of a vision transformer.
//
//     x[b * S + c]     = prefix[c] + positions[c]                    c in [0, C)
//     x[b * S + C + i] = e[b * N + i] + positions[C + i]             i in [0, N)
//
//   name        shape       type     meaning
//   e           (B * N, D)  float    patches, projected to the model's width
//   prefix      (C, D)      float    tokens of no patch: the class token first, then registers
//   positions   (C + N, D)  float    added to the tokens
//   tokens                  int      S >= C + N, tokens of a picture
//   x           (B * S, D)  float    rows of tokens [C + N, S) of each picture are left alone:
//                                    prompts come there (set_tokens.h)
//
// Numerics. One sum: the same bits on every backend.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using EmbedTokens = Status(Stream stream, MatrixView<const float> e, MatrixView<const float> prefix,
                           MatrixView<const float> positions, int tokens, MatrixView<float> x);

namespace cpu {
EmbedTokens embed_tokens;  // embed_tokens_cpu.cpp
}
namespace cuda {
EmbedTokens embed_tokens;  // embed_tokens.cu, compiled by nvcc
}
namespace simt {
EmbedTokens embed_tokens;  // embed_tokens.cu, compiled by the host compiler
}

}  // namespace engram
