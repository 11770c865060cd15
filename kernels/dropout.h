// dropout: some elements set to zero, the others made larger in turn.
//
//     n       = first + r * C + c
//     word    = word n % 4 of philox({n / 4 (low 32 bits), n / 4 (high 32 bits), 0, dropout}, seed)
//     y[r,c]  = word >= rate * 2^32 ? x[r,c] * (1 / (1 - rate)) : 0
//
//   name    shape    type     meaning
//   x       (R, C)   float
//   rate             float    share of the elements that become zero, 0 <= rate < 1
//   seed             uint64   one mask for each
//   first            uint64   counter of element (0, 0)
//   y       (R, C)   float    written in full; may be x
//
// The mask belongs to the counters: a batch in several pieces, each with its own `first`, meets the same
// one, and the gradient passes back by the same call with the gradient for x.
//
// Numerics. The same bits on every backend. What is dropped is 0, even if it was not a number.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Dropout = Status(Stream stream, MatrixView<const float> x, float rate, std::uint64_t seed,
                       std::uint64_t first, MatrixView<float> y);

namespace cpu {
Dropout dropout;  // dropout_cpu.cpp
}
namespace cuda {
Dropout dropout;  // dropout.cu, compiled by nvcc
}
namespace simt {
Dropout dropout;  // dropout.cu, compiled by the host compiler
}

}  // namespace engram
