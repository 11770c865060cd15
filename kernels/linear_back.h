// linear_back: what a linear map (linear.h) passes back to its input.
//
//     dx[r,i] = sum over o of dy[r,o] * w[o,i]          with `add`: dx[r,i] += ...
//
//   name   shape    type    meaning
//   dy     (R, O)   float   gradient of the map's output
//   w      (O, I)   float   the map's weights; O >= 1
//   add             bool    add to what dx holds; else that does not matter
//   dx     (R, I)   float   gradient of the map's input
//
// Numerics. A float sum over O: the order is the backend's, whatever the number of threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using LinearBack = Status(Stream stream, MatrixView<const float> dy, MatrixView<const float> w,
                          bool add, MatrixView<float> dx);

namespace cpu {
LinearBack linear_back;  // linear_back_cpu.cpp
}
namespace cuda {
LinearBack linear_back;  // linear_back.cu, compiled by nvcc
}
namespace simt {
LinearBack linear_back;  // linear_back.cu, compiled by the host compiler
}

}  // namespace engram
