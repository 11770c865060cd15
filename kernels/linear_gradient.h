// linear_gradient: the gradient of a linear map's weights (linear.h), added to what is there.
//
//     dw[o,i] += sum over r of dy[r,o] * x[r,i]
//     db[o]   += sum over r of dy[r,o]
//
//   name   shape    type    meaning
//   dy     (R, O)   float   gradient of the map's output
//   x      (R, I)   float   the map's input
//   dw     (O, I)   float   gradient of the weights
//   db     (1, O)   float   gradient of the bias; may be left out (no rows)
//
// Numerics. Float sums over R: the order is the backend's, whatever the number of threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using LinearGradient = Status(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                              MatrixView<float> dw, MatrixView<float> db);

namespace cpu {
LinearGradient linear_gradient;  // linear_gradient_cpu.cpp
}
namespace cuda {
LinearGradient linear_gradient;  // linear_gradient.cu, compiled by nvcc
}
namespace simt {
LinearGradient linear_gradient;  // linear_gradient.cu, compiled by the host compiler
}

}  // namespace engram
