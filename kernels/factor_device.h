// What `cholesky` and `factor_append` share on a device. Layout: gram_view.h.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// Rows [first, M) of G, turned, and their diagonal plus lambda, to where the factor will be:
// U[c,r] = G[r,c] for all c < r, U[r,r] = G[r,r] + lambda. To the bit what the CPU does.
using CopyGramRows = Status(Stream stream, float lambda, int first, GramView g);

// The factor, in place, of the square block that starts at (first, first). bad_data: it is not
// positive definite or not finite. Waits for the stream.
using FactorBlock = Status(Stream stream, int first, GramView g);

namespace cuda {
CopyGramRows copy_gram_rows;  // factor.cu
FactorBlock factor_block;     // factor.cu
}  // namespace cuda
namespace simt {
CopyGramRows copy_gram_rows;  // factor.cu
FactorBlock factor_block;     // factor.cu
}  // namespace simt

}  // namespace engram
