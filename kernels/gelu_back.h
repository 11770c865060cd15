// gelu_back: the gradient through gelu.
//
//     dx = dy * d gelu(x) / dx          relu: dy where x > 0, else 0
//
//   name   shape    type        meaning
//   dy     (R, F)   float
//   x      (R, F)   float       what gelu was given
//   kind            GeluKind
//   dx     (R, F)   float       written in full; may be dy
//
// Numerics. Every element by itself. Errors of the derivative below 1e-6.
#pragma once

#include "kernels/gelu.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using GeluBack = Status(Stream stream, MatrixView<const float> dy, MatrixView<const float> x,
                        GeluKind kind, MatrixView<float> dx);

namespace cpu {
GeluBack gelu_back;  // gelu_back_cpu.cpp
}
namespace cuda {
GeluBack gelu_back;  // gelu_back.cu, compiled by nvcc
}
namespace simt {
GeluBack gelu_back;  // gelu_back.cu, compiled by the host compiler
}

}  // namespace engram
