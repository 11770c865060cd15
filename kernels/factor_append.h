// factor_append: more rows of G, and the factor that is there goes on from where it ended.
//
//     U = | U11 U12 |     U12 = U11^-T G12,     U22T U22 = G22 + lambda I - U12T U12
//         |  0  U22 |
//
//   name     shape    type       meaning
//   lambda            float      the ridge that U11 was made with, > 0
//   known             int        n: rows and columns of U11, which is there; 0: a full factorisation
//   g        (N, N)   GramView   reads G in the rows [n, N) (below, diagonal) and U11; writes the
//                                columns [n, N) of U
//
// The same factor as `cholesky` of all N to rounding, for n^2 p + n p^2 + p^3 / 3 operations
// (p = N - n) instead of N^3 / 3.
//
// Numerics. Float. Returns bad_data when the matrix is not positive definite or not finite: the
// columns [n, N) of U are then rubbish, G and U11 are intact.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using FactorAppend = Status(Stream stream, float lambda, int known, GramView g);

namespace cpu {
FactorAppend factor_append;  // factor_append_cpu.cpp
}
namespace cuda {
FactorAppend factor_append;  // factor_append.cu
}
namespace simt {
FactorAppend factor_append;  // factor_append.cu
}

}  // namespace engram
