// cholesky: the factor of G + lambda I, into the upper triangle of the same buffer.
//
//     UT U = G + lambda I - sum over b of h[b,:]T h[b,:]
//
//   name      shape    type       meaning
//   lambda             float      ridge, > 0
//   held_out  (B, M)   float      rows to leave out of G for this factor only; B = 0: none
//   g         (M, M)   GramView   reads G (below, diagonal), writes U (on and above the diagonal)
//
// held_out lets a lambda rule ask "what if these samples had not been learned?" without a second
// M x M buffer and without touching G.
//
// Numerics. Float Cholesky (LAPACK spotrf). Returns bad_data when the matrix is not positive
// definite or not finite: U is then rubbish, G is intact.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Cholesky = Status(Stream stream, float lambda, MatrixView<const float> held_out, GramView g);

namespace cpu {
Cholesky cholesky;  // cholesky_cpu.cpp
}
namespace cuda {
Cholesky cholesky;  // cholesky.cu
}
namespace simt {
Cholesky cholesky;  // cholesky.cu
}

}  // namespace engram
