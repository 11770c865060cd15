// cross_entropy: the loss of a cosine classifier, and what passes back from it.
//
//     s[b,k]         = sigma * cosines[b,k]
//     losses[b]      = log(sum over k of exp(s[b,k])) - s[b,labels[b]]
//     ds[b,k]        = weight * (exp(s[b,k]) / sum over j of exp(s[b,j]) - (k == labels[b]))
//     dcosines[b,k]  = sigma * ds[b,k]
//     dsigma        += sum over b and k of ds[b,k] * cosines[b,k]
//
//   name       shape    type    meaning
//   cosines    (B, K)   float
//   sigma      (1, 1)   float   a scale that is learned
//   labels     (1, B)   int     class of each row, 0..K-1 (checked)
//   weight              float   of a row's loss in the sum that is differentiated: 1 / batch for a mean
//   losses     (1, B)   float   written in full, without the weight
//   dcosines   (B, K)   float   written in full; not cosines
//   dsigma     (1, 1)   float   added to
//
// Numerics. The largest score of a row is taken from all of them before exp: finite scores of any size
// give finite results. Sums over K and B in an order that follows from the shapes alone, the backend's.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using CrossEntropy = Status(Stream stream, MatrixView<const float> cosines,
                            MatrixView<const float> sigma, MatrixView<const int> labels,
                            float weight, MatrixView<float> losses, MatrixView<float> dcosines,
                            MatrixView<float> dsigma);

namespace cpu {
CrossEntropy cross_entropy;  // cross_entropy_cpu.cpp
}
namespace cuda {
CrossEntropy cross_entropy;  // cross_entropy.cu, compiled by nvcc
}
namespace simt {
CrossEntropy cross_entropy;  // cross_entropy.cu, compiled by the host compiler
}

}  // namespace engram
