// quantise: backbone features to signed bytes, and whether they may be used.
//
//     q[b,l]         = clamp(round(f[b,l] * scale), -127, 127)       round half to even
//     not_finite[b]  = 1 if any f[b,l] is NaN or infinite, else 0
//
//   name         shape    type    meaning
//   f            (B, L)   float   backbone features, one row per picture
//   scale                 float   belongs to the backbone (its card), so that two devices agree
//   q            (B, L)   int8    written in full
//   not_finite   (1, B)   int32   written in full; the engine refuses such rows
//
// Numerics. The product is one float multiplication, rounded half to even like nearbyintf in the
// default mode: every backend returns the same bits. From here on the `exact` arithmetic is whole
// numbers. A NaN gives 0. A product may overflow: it is cut, and only the feature itself is judged.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Quantise = Status(Stream stream, MatrixView<const float> f, float scale,
                        MatrixView<std::int8_t> q, MatrixView<std::int32_t> not_finite);

namespace cpu {
Quantise quantise;  // quantise_cpu.cpp
}
namespace cuda {
Quantise quantise;  // quantise.cu, compiled by nvcc
}
namespace simt {
Quantise quantise;  // quantise.cu, compiled by the host compiler
}

}  // namespace engram
