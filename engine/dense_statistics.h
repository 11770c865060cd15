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

#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
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

  // G += sign hT h, C[classes[b]] += sign h[b]. h (B, M). sign -1 takes back what was added: in whole
  // numbers exactly, as long as no sum has rounded.
  Status add(MatrixView<const float> h, std::span<const std::int32_t> classes, float sign = 1.0f);
  // C[classes[b]] -= h[b], C[to] += h[b]; G stays.
  Status move(MatrixView<const float> h, std::span<const std::int32_t> classes, int to);
  // Row k of C becomes row new_index[k], of `classes` in all; -1 disappears. The order stays.
  void renumber_classes(std::span<const std::int32_t> new_index, int classes);
  // G and C of another; row k of its C is of our class index[k].
  void absorb(const DenseStatistics& other, std::span<const std::int32_t> index);
  void clear();  // all zeros, no class

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
