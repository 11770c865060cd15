// The mean part of engine/score_blend.h for samples that are left out of the means, on the kernel.
//
//     h_i . C[k] = sum over the samples j of class k of Kk[i,j]
//     |C[k]|^2   = sum over the samples j, m of class k of Kk[j,m]
//
// without those left out. Cost: the squares of the class sizes once, N per sample then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/score_blend.h"
#include "kernels/gram_view.h"

namespace engram {

// (K): the samples of each class, ascending.
std::vector<std::vector<int>> rows_by_class(std::span<const std::int32_t> classes, int class_count);

class LeftOutMeans {
 public:
  // Borrows `kernel` for its life time. rows: samples of the kernel that take part; classes: of each
  // of them, 0..class_count-1.
  LeftOutMeans(const GramView& kernel, std::vector<int> rows, std::vector<std::int32_t> classes,
               ScoreBlend blend, int class_count);

  // Turns ridge scores into scores of the blend. scores (b, K): of the samples `out`, indices into
  // `rows`, all of which are left out. A class that has no other sample has no mean.
  void blend(std::span<const int> out, std::span<float> scores) const;

 private:
  double kernel_of(int i, int j) const {
    return kernel_.gram(rows_[std::size_t(i)], rows_[std::size_t(j)]);
  }
  // (K): |C[k]| without `out`; 0: no sample is left.
  std::vector<double> lengths_without(std::span<const int> out) const;

  GramView kernel_;
  std::vector<int> rows_;
  std::vector<std::int32_t> classes_;
  ScoreBlend blend_;
  std::vector<std::vector<int>> members_;  // (K): indices into rows_
  std::vector<double> squared_lengths_;    // (K)
};

}  // namespace engram
