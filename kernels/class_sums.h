// class_sums: hidden units into the sums of their classes, in place.
//
//     C[labels[b],:] += sign * h[b,:]
//
//   name     shape    type     meaning
//   h        (B, M)   float    hidden units
//   labels   (1, B)   int32    class of each row, 0..K-1 (checked)
//   sign              float    +1 learns, -1 unlearns
//   c        (K, M)   float    class sums, one row per class, so that a new class is a new row
//
// Numerics. As gram_update: exact below 2^24 in the `exact` arithmetic.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using ClassSums = Status(Stream stream, MatrixView<const float> h,
                         MatrixView<const std::int32_t> labels, float sign, MatrixView<float> c);

namespace cpu {
ClassSums class_sums;  // class_sums_cpu.cpp
}
namespace cuda {
ClassSums class_sums;  // class_sums.cu, compiled by nvcc
}
namespace simt {
ClassSums class_sums;  // class_sums.cu, compiled by the host compiler
}

}  // namespace engram
