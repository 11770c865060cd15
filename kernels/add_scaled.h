// add_scaled: a branch added to the stream of activations; alone, a matrix scaled.
//
//     y[r,c] = x[r,c] + (alpha * gamma[c]) * a[r,c]
//
//   name    shape    type    meaning
//   x       (R, C)   float   may be left out (no rows): zeros
//   a       (R, C)   float   the branch
//   gamma   (1, C)   float   a factor for each column (LayerScale); may be left out (no rows): ones
//   alpha            float
//   y       (R, C)   float   written in full; may be x or a
//
// Numerics. Rounded to float after each operation, in this order: the same bits on every backend. What is
// left out is not computed with, so that -0 stays -0.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using AddScaled = Status(Stream stream, MatrixView<const float> x, MatrixView<const float> a,
                         MatrixView<const float> gamma, float alpha, MatrixView<float> y);

namespace cpu {
AddScaled add_scaled;  // add_scaled_cpu.cpp
}
namespace cuda {
AddScaled add_scaled;  // add_scaled.cu, compiled by nvcc
}
namespace simt {
AddScaled add_scaled;  // add_scaled.cu, compiled by the host compiler
}

}  // namespace engram
