// feature_score: what quantised features say of each class, added to its score.
//
//     s[b,k] += sum over l of q[b,l] * Wf[k,l]
//
//   name      shape    type     meaning
//   q         (B, L)   int8     quantised features
//   weights   (K, L)   float    Wf, one row per class
//   s         (B, K)   float    scores, added to
//
// Numerics. A float sum over L: the order is the backend's.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using FeatureScore = Status(Stream stream, MatrixView<const std::int8_t> q,
                            MatrixView<const float> weights, MatrixView<float> s);

namespace cpu {
FeatureScore feature_score;  // feature_score_cpu.cpp
}
namespace cuda {
FeatureScore feature_score;  // feature_score.cu, compiled by nvcc
}
namespace simt {
FeatureScore feature_score;  // feature_score.cu, compiled by the host compiler
}

}  // namespace engram
