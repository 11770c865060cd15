// project: the paper's projection and nonlinearity in float (arithmetic `float`).
//
//     h[b,m] = phi( sum over l of f[b,l] * W[l,m] )       phi: relu, square or none
//
//   name   shape    type     meaning
//   f      (B, L)   float    backbone features, one row per picture
//   w      (L, M)   float    Gaussian, or -1 and +1
//   h      (B, M)   float    hidden units, written in full
//
// Numerics. A float GEMM: the order of the sum is the library's, results differ in the last bits
// between backends. The `exact` arithmetic (quantise, sign_project, activate) has no such freedom.
#pragma once

#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

enum class Nonlinearity : std::uint8_t { relu, square, none };

// One signature for all backends: a backend that drifts from it does not link.
using Project = Status(Stream stream, MatrixView<const float> f, MatrixView<const float> w,
                       Nonlinearity phi, MatrixView<float> h);

namespace cpu {
Project project;  // project_cpu.cpp
}
namespace cuda {
Project project;  // project.cu, compiled by nvcc
}
namespace simt {
Project project;  // project.cu, compiled by the host compiler
}

}  // namespace engram
