// scale_shift: every column scaled and shifted.
//
//     z[r,c] = scale[c] * y[r,c] + shift[c]
//
//   name    shape    type    meaning
//   y       (R, C)   float
//   scale   (1, C)   float
//   shift   (1, C)   float
//   z       (R, C)   float   written in full; may be y
//
// Numerics. A product rounded to float, then a sum: the same bits on every backend.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using ScaleShift = Status(Stream stream, MatrixView<const float> y, MatrixView<const float> scale,
                          MatrixView<const float> shift, MatrixView<float> z);

namespace cpu {
ScaleShift scale_shift;  // scale_shift_cpu.cpp
}
namespace cuda {
ScaleShift scale_shift;  // scale_shift.cu, compiled by nvcc
}
namespace simt {
ScaleShift scale_shift;  // scale_shift.cu, compiled by the host compiler
}

}  // namespace engram
