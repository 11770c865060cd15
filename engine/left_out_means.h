// The mean part of engine/score_blend.h for samples that are left out of the means.
//
//     f_i . F[k] and |F[k]|, F[k] the sum of the features of class k without those left out
//
// from the sums of all that take part: what the left-out ones added is taken off again. Cost: N L once,
// K L for each sample left out and L for each pair of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/score_blend.h"

namespace engram {

// (K): the samples of each class, ascending.
std::vector<std::vector<int>> rows_by_class(std::span<const std::int32_t> classes, int class_count);

// Features of samples, wherever they are kept: `row` writes the `width` floats of one.
struct FeatureRows {
  int width = 0;
  std::function<void(int sample, float* features)> row;
};

class LeftOutMeans {
 public:
  // rows: samples that take part; classes: of each of them, 0..class_count-1. What `features` refers
  // to is borrowed for its life time; a blend without means needs none.
  LeftOutMeans(FeatureRows features, std::vector<int> rows, std::vector<std::int32_t> classes,
               ScoreBlend blend, int class_count);

  // Turns ridge scores into scores of the blend. scores (b, K): of the samples `out`, indices into
  // `rows`, all of which are left out. A class that has no other sample has no mean.
  void blend(std::span<const int> out, std::span<float> scores) const;

 private:
  const float* sum(std::size_t k) const { return sums_.data() + k * std::size_t(features_.width); }
  // (K): |F[k]| without `out`, whose features are `f` (b, L); 0: no sample is left.
  std::vector<double> lengths_without(std::span<const int> out, std::span<const float> f) const;

  FeatureRows features_;
  std::vector<int> rows_;
  std::vector<std::int32_t> classes_;
  ScoreBlend blend_;
  std::vector<std::size_t> sizes_;       // (K)
  std::vector<float> sums_;              // (K, L)
  std::vector<double> squared_lengths_;  // (K)
};

}  // namespace engram
