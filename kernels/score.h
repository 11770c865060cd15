// score: hidden units to class scores.
//
//     s[b,k] = sum over m of h[b,m] * Wo[k,m]
//
//   name      shape    type     meaning
//   h         (B, M)   float    hidden units
//   readout   (K, M)   float    Wo, one row per class
//   s         (B, K)   float    scores, written in full
//
// Numerics. A float sum over M: the order is the backend's.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Score = Status(Stream stream, MatrixView<const float> h, MatrixView<const float> readout,
                     MatrixView<float> s);

namespace cpu {
Score score;  // score_cpu.cpp
}
namespace cuda {
Score score;  // score.cu, compiled by nvcc
}
namespace simt {
Score score;  // score.cu, compiled by the host compiler
}

}  // namespace engram
