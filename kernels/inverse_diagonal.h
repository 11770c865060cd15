// inverse_diagonal: the diagonal of the inverse, from the factor that `cholesky` left.
//
//     d[m] = ((UT U)^-1)[m,m] = sum over j >= m of (U^-1)[m,j]^2
//
//   name      shape    type       meaning
//   g         (M, M)   GramView   only U is read
//   scratch   (M, B)   float      any B >= 1; the columns of U^-1 are made B at a time
//   d         (1, M)   float      written in full
//
// Column j of U^-1 ends at row j, so B columns need the leading block of U only: M^3 / 3
// operations in all, like the factor itself.
//
// Numerics. Float solves; a sum of squares, so nothing cancels: the relative error of d is that of
// U^-1.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using InverseDiagonal = Status(Stream stream, GramView g, MatrixView<float> scratch,
                               MatrixView<float> d);

namespace cpu {
InverseDiagonal inverse_diagonal;  // inverse_diagonal_cpu.cpp
}
namespace cuda {
InverseDiagonal inverse_diagonal;  // inverse_diagonal.cu
}
namespace simt {
InverseDiagonal inverse_diagonal;  // inverse_diagonal.cu
}

}  // namespace engram
