// unit_rows: every row divided by its length.
//
//     lengths[r] = sqrt(sum over c of x[r,c]^2)
//     y[r,c]     = x[r,c] / lengths[r]            a row of zeros stays one
//
//   name      shape    type    meaning
//   x         (R, C)   float
//   y         (R, C)   float   written in full; may be x
//   lengths   (1, R)   float   written in full
//
// Numerics. Squares are added in double, so that none is too large or too small; the order is the
// backend's. A length that is too large for a float is infinite.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using UnitRows = Status(Stream stream, MatrixView<const float> x, MatrixView<float> y,
                        MatrixView<float> lengths);

namespace cpu {
UnitRows unit_rows;  // unit_rows_cpu.cpp
}
namespace cuda {
UnitRows unit_rows;  // unit_rows.cu, compiled by nvcc
}
namespace simt {
UnitRows unit_rows;  // unit_rows.cu, compiled by the host compiler
}

}  // namespace engram
