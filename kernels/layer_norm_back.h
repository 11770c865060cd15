// layer_norm_back: the gradient through layer_norm. Its weights are frozen and have none.
//
//     n[r,d]  = (x[r,d] - mean_r) * scale_r                 g[r,d] = dy[r,d] * weight[d]
//     dx[r,d] = scale_r * (g[r,d] - 1/D sum over e of g[r,e] - n[r,d] * 1/D sum over e of g[r,e] n[r,e])
//
//   name      shape    type     meaning
//   dy        (R, D)   float
//   x         (R, D)   float    what layer_norm was given
//   weight    (1, D)   float
//   stats     (R, 2)   float    mean_r and scale_r, as layer_norm wrote them
//   add                bool     true: dx is added to
//   dx        (R, D)   float    written in full; may be dy where add is false
//
// Numerics. Float sums over D: the order is the backend's, and the same for every number of threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using LayerNormBack = Status(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                             MatrixView<const float> weight, MatrixView<const float> stats,
                             bool add, MatrixView<float> dx);

namespace cpu {
LayerNormBack layer_norm_back;  // layer_norm_back_cpu.cpp
}
namespace cuda {
LayerNormBack layer_norm_back;  // layer_norm_back.cu, compiled by nvcc
}
namespace simt {
LayerNormBack layer_norm_back;  // layer_norm_back.cu, compiled by the host compiler
}

}  // namespace engram
