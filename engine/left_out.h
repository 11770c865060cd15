// What readouts say that were made without some samples, exactly and without training again.
//
// With P = (Kk + lambda I)^-1, Kk = H Ht the kernel of N samples, A = P Y (Y one-hot, N x K), and
// b any rows: a readout that never saw b gives them
//
//     ridge     Y_b - B A_b,  B = (P_bb)^-1        for one row i: y_i - A_i / P_ii
//     leverage  diag(B) / lambda - 1               h^T (G + lambda I)^-1 h with its own G
//
// and scores of a blend with class means follow (engine/left_out_means.h).
//
// Cost. n^3 + n^2 K in double for n = min(N, limit) samples, 12 n^2 bytes. Beyond the limit a
// sub-problem stands for the whole: about as many samples of each class, spread evenly over the
// order in which they were learned, and lambda n / N.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/left_out_means.h"
#include "engine/score_blend.h"
#include "kernels/gram_view.h"
#include "platform/status.h"

namespace engram {

class LeftOut {
 public:
  // kernel: Kk (N, N) below the diagonal and in the diagonal; the factor above is not looked at.
  // blend: of what the scores are, with weights as of all samples; features: of the N samples,
  // borrowed, where it has means.
  // classes (N), 0..class_count-1. bad_data: Kk + lambda I has no factor even in double.
  static Result<LeftOut> create(const GramView& kernel, std::span<const std::int32_t> classes,
                                int class_count, double lambda, int limit, ScoreBlend blend = {},
                                FeatureRows features = {});

  int size() const { return int(rows_.size()); }  // n
  int class_count() const { return class_count_; }
  std::span<const int> rows() const { return rows_; }  // of the kernel, ascending
  std::span<const std::int32_t> classes() const { return classes_; }
  // The samples of a class, as indices 0..n-1.
  std::span<const int> members(int label) const { return members_[std::size_t(label)]; }

  // scores (K) of sample i when it alone is left out; returns its leverage.
  float leave_one(int i, std::span<float> scores) const;
  // scores (b, K) and leverages (b) of the samples `out` when they all are left out. False: a
  // block of the inverse has no factor (scales beyond double); nothing is written then.
  bool leave(std::span<const int> out, std::span<float> scores, std::span<float> leverages) const;

 private:
  LeftOut() = default;
  const double* inverse(int i) const { return inverse_.data() + rows_.size() * std::size_t(i); }
  const double* dual(int i) const {
    return dual_.data() + std::size_t(class_count_) * std::size_t(i);
  }

  std::vector<int> rows_;
  std::vector<std::int32_t> classes_;
  std::vector<std::vector<int>> members_;
  int class_count_ = 0;
  double lambda_ = 0;
  std::vector<double> inverse_;  // P (n, n)
  std::vector<double> dual_;     // A (n, K)
  std::optional<LeftOutMeans> means_;
};

// At most `limit` rows: every class gets the same share, what small classes leave goes to larger
// ones, and within a class rows are spread evenly. Ascending. A function of `classes` alone.
std::vector<int> stratified_rows(std::span<const std::int32_t> classes, int class_count, int limit);

}  // namespace engram
