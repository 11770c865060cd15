// The dense form of what was learned: G = sum of h hT and C = sum of h yT.
//
//   name     shape    type       meaning
//   gram     (M, M)   GramView   G below the diagonal, the factor of the last solve above
//   sums     (K, M)   float      C, one row per class: a new class is a new row
//
// Memory is M x M whatever the number of samples. Rows of C grow by doubling and only when a class
// is new; add() allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "platform/arena.h"
#include "platform/growing_buffer.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class DenseStatistics {
 public:
  // Bytes that the constructor takes from the arena.
  static std::size_t arena_bytes(int hidden_units);
  DenseStatistics(int hidden_units, const Kernels& kernels, Arena& arena);

  // Room for `classes` rows of C in all; after ok() set_classes up to it cannot fail.
  Status reserve_classes(int classes);
  void set_classes(int classes);

  // G += hT h, C[classes[b]] += h[b]. h (B, M).
  Status add(MatrixView<const float> h, std::span<const std::int32_t> classes);

  const GramView& gram() const { return gram_; }
  MatrixView<float> sums() const { return {sums_.as<float>(), classes_, gram_.size, gram_.size}; }
  // The sum of all h: close to the first eigenvector of G when h >= 0.
  std::vector<float> sum_of_all() const;

 private:
  const Kernels* kernels_;
  GramView gram_;
  GrowingBuffer sums_;
  int classes_ = 0;
};

}  // namespace engram
