// Gauss quadratures of a Gram matrix by Lanczos steps with its shifted inverse.
//
//     S = (UT U)^-1 = (G + shift I)^-1,   vT f(G) v = sum over i of weight[i] f(value[i])
//
// For each start vector v by itself, all of them in one solve a step. value = 1 / theta - shift for
// the Ritz values theta of S, so that directions with small eigenvalues of G are found first.
#pragma once

#include <vector>

#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct Quadrature {
  std::vector<double> values;   // of G: at least 0
  std::vector<double> weights;  // their sum is |v|^2
};

class ShiftedLanczos {
 public:
  // gram: its upper triangle holds the factor of G + shift I. starts (n, M) and scratch (2 n, M) are
  // borrowed and overwritten.
  ShiftedLanczos(const Kernels& kernels, GramView gram, double shift, MatrixView<float> starts,
                 MatrixView<float> scratch);

  // So many steps more from the vectors [first, first + count), which have all had as many before.
  Status advance(int first, int count, int steps);
  int steps(int vector) const { return chains_[std::size_t(vector)].steps; }

  // Of the steps so far. A start of zeros gives an empty one. bad_data: not finite.
  Result<Quadrature> quadrature(int vector) const;

 private:
  // The tridiagonal matrix of one start vector.
  struct Chain {
    std::vector<double> diagonal, beside;
    double length = 0;  // |v|
    int steps = 0;
    bool ended = false;
  };
  static void take_step(const float* before, const float* current, float* w, int count,
                        Chain& chain);

  const Kernels& kernels_;
  GramView gram_;
  double shift_;
  MatrixView<float>
      vectors_[3];  // after j steps of a vector: j % 3 has the newest, (j + 2) % 3 the one before
  std::vector<Chain> chains_;
};

}  // namespace engram
