// What the size of a lambda is measured by: the trace and the largest eigenvalue of a Gram matrix.
#pragma once

#include <vector>

#include "kernels/gram_view.h"

namespace engram {

// Sum of the diagonal.
double trace(const GramView& g);

// To a few percent, by power iteration from `start`, which should be close to the first
// eigenvector. Only G is read, never the factor. Allocates as much as `start` once more.
double largest_eigenvalue(const GramView& g, std::vector<float> start);

}  // namespace engram
