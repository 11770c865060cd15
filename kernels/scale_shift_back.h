// scale_shift_back: what scale_shift (scale_shift.h) passes back, and the gradients of its parameters,
// added to what is there.
//
//     dscale[c] += sum over r of dz[r,c] * y[r,c]
//     dshift[c] += sum over r of dz[r,c]
//     dy[r,c]    = scale[c] * dz[r,c]
//
//   name     shape    type    meaning
//   dz       (R, C)   float   gradient of the result
//   y        (R, C)   float   what was scaled
//   scale    (1, C)   float
//   dy       (R, C)   float   gradient of y, written in full; may be dz
//   dscale   (1, C)   float
//   dshift   (1, C)   float
//
// Numerics. dy: the same bits on every backend. Float sums over R: the order is the backend's, whatever
// the number of threads.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using ScaleShiftBack = Status(Stream stream, MatrixView<const float> dz, MatrixView<const float> y,
                              MatrixView<const float> scale, MatrixView<float> dy,
                              MatrixView<float> dscale, MatrixView<float> dshift);

namespace cpu {
ScaleShiftBack scale_shift_back;  // scale_shift_back_cpu.cpp
}
namespace cuda {
ScaleShiftBack scale_shift_back;  // scale_shift_back.cu, compiled by nvcc
}
namespace simt {
ScaleShiftBack scale_shift_back;  // scale_shift_back.cu, compiled by the host compiler
}

}  // namespace engram
