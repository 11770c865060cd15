// cholesky_solve: right-hand sides through the factor that `cholesky` left.
//
//     x[k,:] = (UT U)^-1 x[k,:]        in place
//
//   name   shape    type       meaning
//   g      (M, M)   GramView   only U is read
//   x      (K, M)   float      in: class sums, one row per class; out: the readout Wo
//
// Numerics. Two float triangular solves. On the CPU the same bits for every thread count.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using CholeskySolve = Status(Stream stream, GramView g, MatrixView<float> x);

namespace cpu {
CholeskySolve cholesky_solve;  // cholesky_solve_cpu.cpp
}
namespace cuda {
CholeskySolve cholesky_solve;  // cholesky_solve.cu
}
namespace simt {
CholeskySolve cholesky_solve;  // cholesky_solve.cu
}

}  // namespace engram
