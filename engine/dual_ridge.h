// Ridge regression on the n x n kernel, in double: for tasks with fewer samples than hidden units.
//
//     K = H HT,   A = (K11 + lambda I)^-1 Y1,   scores of the held-out rows = K21 A
//
// The same readout as the M x M form (Wo = H1T A), at (n / M)^3 of its cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "platform/matrix_view.h"

namespace engram {

class DualRidge {
 public:
  // h (n, M): the first `learned` rows are learned, the others held out. classes (n), 0..K-1.
  DualRidge(MatrixView<const float> h, std::span<const std::int32_t> classes, int learned,
            int class_count);
  // Mean squared error on the held-out rows; NaN: no factor exists.
  double loss(double lambda) const;

 private:
  int n_;
  int learned_;
  int class_count_;
  std::vector<std::int32_t> classes_;
  std::vector<double> kernel_;  // (n, n), lower triangle
};

}  // namespace engram
