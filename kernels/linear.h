// linear: a linear map of every row.
//
//     y[r,o] = sum over i of x[r,i] * w[o,i]  +  b[o]
//
//   name   shape    type    meaning
//   x      (R, I)   float
//   w      (O, I)   float   one row per output, as in PyTorch and ONNX; I >= 1
//   b      (1, O)   float   may be left out (no rows): zeros
//   y      (R, O)   float   written in full; none of the others
//
// Numerics. A float sum over I that begins with b: the order is the backend's, whatever the number of
// threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Linear = Status(Stream stream, MatrixView<const float> x, MatrixView<const float> w,
                      MatrixView<const float> b, MatrixView<float> y);

namespace cpu {
Linear linear;  // linear_cpu.cpp
}
namespace cuda {
Linear linear;  // linear.cu, compiled by nvcc
}
namespace simt {
Linear linear;  // linear.cu, compiled by the host compiler
}

}  // namespace engram
