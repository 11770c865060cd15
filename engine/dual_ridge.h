// Ridge regression on a kernel matrix, in double: for fewer samples than hidden units.
//
//     A = (K11 + lambda I)^-1 Y1,   scores of the held-out samples = K21 A
//
// The same readout as the M x M form (Wo = H1T A), at (n / M)^3 of its cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/gram_view.h"

namespace engram {

class DualRidge {
 public:
  // `samples`, indices into the kernel matrix: the first `learned` are learned, the others held out.
  // classes: of every sample of the kernel matrix, 0..class_count-1. Borrows the kernel matrix,
  // whose factor is not read.
  DualRidge(GramView kernel, std::span<const std::int32_t> classes, std::span<const int> samples,
            int learned, int class_count);
  // Mean squared error on the held-out samples; NaN: no factor exists.
  double loss(double lambda);

 private:
  GramView kernel_;
  std::span<const std::int32_t> classes_;
  std::span<const int> samples_;
  int learned_;
  int class_count_;
  std::vector<double> factor_;  // (learned, learned)
  std::vector<double> a_;       // (class_count, learned)
  std::vector<double> row_;     // (learned)
};

}  // namespace engram
