// Gauss quadratures of a Gram matrix by Lanczos steps with its shifted inverse.
//
//     S = (UT U)^-1 = (G + shift I)^-1,   vT f(G) v = sum over i of weight[i] f(value[i])
//
// For each start vector v by itself, all of them in one solve a step. value = 1 / theta - shift for
// the Ritz values theta of S, so that directions with small eigenvalues of G are found first.
#pragma once

#include <vector>

#include "kernels/kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct Quadrature {
  std::vector<double> values;   // of G: at least 0
  std::vector<double> weights;  // their sum is |v|^2
};

// gram: its upper triangle holds the factor of G + shift I. starts (n, M) and scratch (2 n, M) are
// overwritten. A start of zeros gives an empty quadrature. bad_data: not finite.
Result<std::vector<Quadrature>> shifted_lanczos(const Kernels& kernels, GramView gram, double shift,
                                                int steps, MatrixView<float> starts,
                                                MatrixView<float> scratch);

}  // namespace engram
