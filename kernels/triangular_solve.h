// triangular_solve: one half of cholesky_solve.
//
//     transposed: x[k,:] = U^-T x[k,:]        else: x[k,:] = U^-1 x[k,:]        in place
//
//   name   shape    type       meaning
//   g      (M, M)   GramView   only U is read
//   x      (K, M)   float      right-hand sides, one per row
//
// First the transposed half, then the other, is cholesky_solve.
//
// Numerics. One float triangular solve.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using TriangularSolve = Status(Stream stream, GramView g, bool transposed, MatrixView<float> x);

namespace cpu {
TriangularSolve triangular_solve;  // triangular_solve_cpu.cpp
}
namespace cuda {
TriangularSolve triangular_solve;  // triangular_solve.cu
}
namespace simt {
TriangularSolve triangular_solve;  // triangular_solve.cu
}

}  // namespace engram
