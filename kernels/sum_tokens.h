// sum_tokens: the gradient of rows that set_tokens put into every picture, taken out of it.
//
//     drows[p] += sum over b of dx[b * S + first + p],    then    dx[b * S + first + p] = 0
//
//   name     shape       type     meaning
//   first                int      the token that the first row became; first + P <= S
//   tokens               int      S, tokens of a picture
//   dx       (B * S, D)  float    gradient of the tokens: what came before set_tokens in these rows
//                                 was overwritten there and has none. Other rows are left alone
//   drows    (P, D)      float    gradient of the rows, added to
//
// Numerics. Pictures are added in their order, then to drows: the same bits on every backend.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using SumTokens = Status(Stream stream, int first, int tokens, MatrixView<float> dx,
                         MatrixView<float> drows);

namespace cpu {
SumTokens sum_tokens;  // sum_tokens_cpu.cpp
}
namespace cuda {
SumTokens sum_tokens;  // sum_tokens.cu, compiled by nvcc
}
namespace simt {
SumTokens sum_tokens;  // sum_tokens.cu, compiled by the host compiler
}

}  // namespace engram
