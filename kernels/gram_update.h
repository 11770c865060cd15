// gram_update: hidden units into the Gram matrix, in place.
//
//     G += sign * hT h            lower triangle and diagonal only; the factor above is not touched
//
//   name   shape    type       meaning
//   h      (B, M)   float      hidden units
//   sign            float      +1 learns, -1 unlearns
//   g      (M, M)   GramView   see gram_view.h
//
// Numerics. In the `exact` arithmetic h is whole numbers and every sum below 2^24 is exact, so the
// result is the same bits for any order, batch split, thread count and backend, and unlearning is
// the exact inverse of learning. In the `float` arithmetic it is a float SYRK.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using GramUpdate = Status(Stream stream, MatrixView<const float> h, float sign, GramView g);

namespace cpu {
GramUpdate gram_update;  // gram_update_cpu.cpp
}
namespace cuda {
GramUpdate gram_update;  // gram_update.cu, compiled by nvcc
}
namespace simt {
GramUpdate gram_update;  // gram_update.cu, compiled by the host compiler
}

}  // namespace engram
