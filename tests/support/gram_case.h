// A Gram matrix with its factor in one buffer, as kernel tests need it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/gram_view.h"
#include "tests/support/guarded_matrix.h"
#include "tests/support/worst.h"

namespace engram::test {

struct GramCase {
  explicit GramCase(int units) : buffer(units, units), diagonal(1, units) {}

  GramView view() {
    const MatrixView<float> b = buffer.view();
    return {b.data, diagonal.view().data, b.rows, b.stride};
  }
  // Places where kernels may or may not write: strictly below, and the diagonal of the buffer with
  // everything above it.
  bool same_below(const GramCase& other) const { return same(other, true); }
  bool same_on_and_above(const GramCase& other) const { return same(other, false); }
  bool untouched() const { return buffer.untouched() && diagonal.untouched(); }

  GuardedMatrix<float> buffer;
  GuardedMatrix<float> diagonal;

 private:
  bool same(const GramCase& other, bool below) const {
    for (int r = 0; r < buffer.rows(); ++r)
      for (int c = 0; c < buffer.cols(); ++c)
        if ((c < r) == below && std::memcmp(&buffer(r, c), &other.buffer(r, c), sizeof(float)) != 0)
          return false;
    return true;
  }
};

// Largest |UT U - (G + lambda I)|, U the factor of `factored` and G that of `wanted`, relative to the
// largest diagonal element.
inline double residual(GramCase& factored, GramCase& wanted, float lambda) {
  const int units = factored.buffer.rows();
  Worst worst;
  double largest = lambda;
  for (int r = 0; r < units; ++r) {
    largest = std::max(largest, double{wanted.diagonal(0, r)} + lambda);
    for (int c = r; c < units; ++c) {
      double sum = 0.0;
      for (int k = 0; k <= r; ++k) sum += double{factored.buffer(k, r)} * factored.buffer(k, c);
      const double expected = wanted.view().gram(r, c) + (r == c ? double{lambda} : 0.0);
      worst.see(std::fabs(sum - expected));
    }
  }
  return worst.value() / largest;
}

}  // namespace engram::test
