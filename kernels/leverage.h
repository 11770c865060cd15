// leverage: how far hidden units are from all that was learned, by random directions.
//
//     products[b,r]  = scales[r] * sum over m of probes[r,m] * h[b,m]
//     leverages[b]   = 1 / R * sum over r of products[b,r]^2
//
//   name        shape    type     meaning
//   h           (B, M)   float    hidden units
//   probes      (R, M)   int16    the directions, each in units of its scale (engine/leverage.h)
//   scales      (1, R)   float
//   products    (B, R)   float    written in full: memory for the operation, and for whoever looks
//   leverages   (1, B)   float    written in full; zeros where R is 0
//
// Numerics. Float sums over M and R: the order is the backend's.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

constexpr int kLeverageProbes = 64;  // R of a learner; the operation takes any

// One signature for all backends: a backend that drifts from it does not link.
using Leverage = Status(Stream stream, MatrixView<const float> h,
                        MatrixView<const std::int16_t> probes, MatrixView<const float> scales,
                        MatrixView<float> products, MatrixView<float> leverages);

namespace cpu {
Leverage leverage;  // leverage_cpu.cpp
}
namespace cuda {
Leverage leverage;  // leverage.cu, compiled by nvcc
}
namespace simt {
Leverage leverage;  // leverage.cu, compiled by the host compiler
}

}  // namespace engram
