// unit_rows_back: what unit_rows (unit_rows.h) passes back to its input.
//
//     dx[r,:] = (dy[r,:] - (dy[r,:] . y[r,:]) y[r,:]) / lengths[r]      zeros where lengths[r] is 0
//
//   name      shape    type    meaning
//   dy        (R, C)   float   gradient of y
//   y         (R, C)   float   the rows of length 1
//   lengths   (1, R)   float   how long they were
//   dx        (R, C)   float   gradient of x, written in full; may be dy
//
// Numerics. The product of dy and y is added in double; the order is the backend's.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using UnitRowsBack = Status(Stream stream, MatrixView<const float> dy, MatrixView<const float> y,
                            MatrixView<const float> lengths, MatrixView<float> dx);

namespace cpu {
UnitRowsBack unit_rows_back;  // unit_rows_back_cpu.cpp
}
namespace cuda {
UnitRowsBack unit_rows_back;  // unit_rows_back.cu, compiled by nvcc
}
namespace simt {
UnitRowsBack unit_rows_back;  // unit_rows_back.cu, compiled by the host compiler
}

}  // namespace engram
