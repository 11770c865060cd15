// activate: projections to hidden units that are small whole numbers.
//
//     h[b,m] = min(hmax, (max(p[b,m], 0) * mul) >> 16)
//
//   name   shape    type     meaning
//   p      (B, M)   int32    projections
//   mul             int32    1..65536, gain in 1/65536; from the backbone's card
//   hmax            int32    1..255; 31 unless measured otherwise
//   h      (B, M)   float    hidden units, whole numbers 0..hmax held in floats, written in full
//
// Numerics. The product is taken exactly (64 bits, or after p is cut at the value that already
// reaches hmax): every backend returns the same values. Held in floats because G and C are float:
// every sum of products below 2^24 is exact in any order, on any backend, with any BLAS.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Activate = Status(Stream stream, MatrixView<const std::int32_t> p, std::int32_t mul,
                        std::int32_t hmax, MatrixView<float> h);

namespace cpu {
Activate activate;  // activate_cpu.cpp
}
namespace cuda {
Activate activate;  // activate.cu, compiled by nvcc
}
namespace simt {
Activate activate;  // activate.cu, compiled by the host compiler
}

}  // namespace engram
