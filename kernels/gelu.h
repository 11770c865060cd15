// gelu: the nonlinearity inside a transformer's MLP, or of an adapter.
//
//     erf     y = x Phi(x),                     Phi(x) = (1 + erf(x / sqrt(2))) / 2
//     tanh    y = x (1 + tanh(u)) / 2,          u = sqrt(2 / pi) (x + 0.044715 x^3)
//     quick   y = x / (1 + exp(-1.702 x))
//     relu    y = max(x, 0)
//
//   name   shape    type        meaning
//   x      (R, F)   float
//   kind            GeluKind
//   y      (R, F)   float       written in full; may be x
//
// Numerics. Every element by itself. Errors are below 1e-6 (1 + |w|) |y|, w the exponent of e in it (x^2 / 2,
// 2 u, 1.702 x), which has been rounded. What is not a number stays so.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

enum class GeluKind : std::uint8_t { erf, tanh, quick, relu };

// One signature for all backends: a backend that drifts from it does not link.
using Gelu = Status(Stream stream, MatrixView<const float> x, GeluKind kind, MatrixView<float> y);

namespace cpu {
Gelu gelu;  // gelu_cpu.cpp
}
namespace cuda {
Gelu gelu;  // gelu.cu, compiled by nvcc
}
namespace simt {
Gelu gelu;  // gelu.cu, compiled by the host compiler
}

}  // namespace engram
