// set_tokens: the same rows put into the tokens of every picture.
//
//     x[b * S + first + p] = rows[p]                                 p in [0, P)
//
//   name     shape       type     meaning
//   rows     (P, D)      float    prompts
//   first                int      the token that the first of them becomes; first + P <= S
//   tokens               int      S, tokens of a picture
//   x        (B * S, D)  float    other rows are left alone
//
// Numerics. Copies, to the bit. Backward: sum_tokens.h.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using SetTokens = Status(Stream stream, MatrixView<const float> rows, int first, int tokens,
                         MatrixView<float> x);

namespace cpu {
SetTokens set_tokens;  // set_tokens_cpu.cpp
}
namespace cuda {
SetTokens set_tokens;  // set_tokens.cu, compiled by nvcc
}
namespace simt {
SetTokens set_tokens;  // set_tokens.cu, compiled by the host compiler
}

}  // namespace engram
