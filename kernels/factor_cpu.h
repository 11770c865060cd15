// What `cholesky` and `factor_append` share on the CPU. Layout: gram_view.h.
#pragma once

#include "kernels/gram_view.h"
#include "platform/status.h"

namespace engram::cpu {

// Rows [first, M) of G, turned, and their diagonal plus lambda, to where the factor will be:
// U[c,r] = G[r,c] for all c < r, U[r,r] = G[r,r] + lambda.
void copy_gram_rows(float lambda, int first, GramView g);

// The factor, in place, of the square block that starts at (first, first). bad_data: it is not
// positive definite or not finite.
Status factor_block(int first, GramView g);

}  // namespace engram::cpu
