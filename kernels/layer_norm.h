// layer_norm: every row to mean 0 and variance 1, then scaled and shifted.
//
//     mean_r = 1/D sum over d of x[r,d]        var_r = 1/D sum over d of (x[r,d] - mean_r)^2
//     y[r,d] = (x[r,d] - mean_r) / sqrt(var_r + epsilon) * weight[d] + bias[d]
//
//   name      shape    type     meaning
//   x         (R, D)   float    D >= 1
//   weight    (1, D)   float
//   bias      (1, D)   float
//   epsilon            float    > 0
//   y         (R, D)   float    written in full; may be x
//   stats     (R, 2)   float    mean and 1 / sqrt(var + epsilon) of each row, for the way back
//
// Numerics. Float sums over D, of the differences for the variance: no cancellation. The order is the
// backend's, and the same for every number of threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using LayerNorm = Status(Stream stream, MatrixView<const float> x, MatrixView<const float> weight,
                         MatrixView<const float> bias, float epsilon, MatrixView<float> y,
                         MatrixView<float> stats);

namespace cpu {
LayerNorm layer_norm;  // layer_norm_cpu.cpp
}
namespace cuda {
LayerNorm layer_norm;  // layer_norm.cu, compiled by nvcc
}
namespace simt {
LayerNorm layer_norm;  // layer_norm.cu, compiled by the host compiler
}

}  // namespace engram
