// One square buffer for the Gram matrix and its Cholesky factor.
//
//     data, row-major          strictly below the diagonal: G (symmetric, so half is enough)
//                              on and above the diagonal:   U with UT U = G + lambda I
//     diagonal                 G's own diagonal, apart
//
//         col 0   1   2
//     row 0 | U   U   U |       diagonal | G00 G11 G22 |
//         1 | G   U   U |
//         2 | G   G   U |
//
// So a learner needs one M x M buffer (400 MB at M = 10 000), not two, and the factor of the last
// solve stays usable while G goes on growing.
#pragma once

#include <cstddef>

#include "platform/matrix_view.h"

namespace engram {

struct GramView {
  float* data = nullptr;      // (size, size), stride elements from row to row
  float* diagonal = nullptr;  // (size)
  int size = 0;               // M
  int stride = 0;

  ENGRAM_HOST_DEVICE float* row(int r) const { return data + std::ptrdiff_t{stride} * r; }
  // G[r,c], whichever triangle is asked for.
  ENGRAM_HOST_DEVICE float gram(int r, int c) const {
    return r == c ? diagonal[r] : r > c ? row(r)[c] : row(c)[r];
  }
};

}  // namespace engram
