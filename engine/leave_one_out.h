// Leave-one-out: what the learner would say of each sample had it never seen it, on the kernel.
//
//     Kk = H HT (N, N),   A = (Kk + lambda I)^-1 Y,   d = diagonal of (Kk + lambda I)^-1
//     error of sample i, class k, without i:   A[i,k] / d[i]
//     loss(lambda) = mean over all i, k of (A[i,k] / d[i])^2
//
// Exact, for one factorisation and one diagonal of the inverse (N^3 / 3 operations each): no sample
// is really taken out.
//
//   name      shape    type       meaning
//   kernel    (N, N)   GramView   Kk below and on the diagonal; its upper triangle is written
//   classes   (N)      int32      0..K-1
//
// Numerics. Float, by the backend's kernels. Measured on features of photos (M 2 000 and 10 000, N
// 100 to 2 900): down to 1e-5 of the kernel's mean diagonal the loss agrees with double to four
// digits, also where that is 1e-8 of the largest eigenvalue, because the errors of a Cholesky
// factor go with the diagonal; and below 1e-4 of it the loss does not change any more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/lambda_rule.h"
#include "kernels/chosen_kernels.h"
#include "kernels/gram_view.h"
#include "platform/matrix_view.h"

namespace engram {

class LeaveOneOut {
 public:
  static constexpr int kScratchColumns = 256;  // of the inverse at a time
  static constexpr int kFewSamples = 512;      // up to here a loss costs a few milliseconds
  // The search for lambda begins with so many of N samples, where it costs a thirtieth, and that among
  // kManySamples of them with a part again: how many there are in all these parts.
  static constexpr int kManySamples = 1024;
  // A part has one of every class, so that of as many samples as classes there is none.
  static constexpr int part_of(int samples, int classes = 0) {
    return std::max({kFewSamples, samples / 3, std::min(samples, classes)});
  }
  static constexpr int parts_of(int samples, int classes) {
    const int part = part_of(samples, classes);
    if (part < kManySamples) return part;
    return part < samples ? part + parts_of(part, classes) : 0;
  }

  // Borrows `kernel` and `classes`. Memory: N (K + 1 + kScratchColumns) floats.
  LeaveOneOut(const Kernels& kernels, GramView kernel, std::span<const std::int32_t> classes,
              int class_count);

  // Factors Kk + lambda I into the kernel's upper triangle. NaN: there is no usable factor.
  double loss(double lambda);
  // The first half of loss(): factor and A alone. False: there is no usable factor.
  bool solve(double lambda);
  // d log(loss) / d log(lambda) of the last loss() that was not NaN, when no solve() came after it;
  // a tenth of its cost. Estimated (leave_one_out_slope.cpp says how well).
  double slope();

  // Of the last loss() or solve() that had a factor.
  MatrixView<const float> dual() const;  // (K, N): A, turned; the readout is dual() times H
  std::vector<float> take_dual() { return std::move(dual_); }  // this problem ends with it
  // Of the last loss() that was not NaN, when no solve() came after it.
  void scores(MatrixView<float> scores) const;  // (N, K): y - A / d, scores without the sample
  double trace_of_inverse() const;              // sum of d
  double squared_dual() const;                  // sum of the squares of A

  const Kernels& kernels() const { return kernels_; }
  const GramView& kernel() const { return kernel_; }
  std::span<const std::int32_t> classes() const { return classes_; }
  int class_count() const { return class_count_; }

 private:
  std::vector<double> squared_inverse();

  const Kernels& kernels_;
  GramView kernel_;
  std::span<const std::int32_t> classes_;
  int class_count_;
  std::vector<float> dual_;           // (K, N)
  std::vector<float> inverse_;        // (N): d
  std::vector<float> scratch_;        // (N, kScratchColumns) of inverse_diagonal and slope
  std::vector<std::uint32_t> signs_;  // (N): random ones for slope(), a bit each
  double lambda_ = 0;                 // of the last solve()
};

// The lambda with the smallest loss: by decades from 1e-4 of the kernel's mean diagonal to ten
// times its trace, then between them by parabolas, on a grid of twenty values a decade.
//
// A function of the set of samples, to rounding: neither their order nor that of the classes
// matters, and the grid keeps rounding out of the result. Above 512 samples the search is done with a
// third of them (512 at least), taken evenly from every class and one of each at least, and goes on
// with all from there: one evaluation and its slope, mostly. Where the parabola with this slope, bent as
// the loss of the part, promises less than 1e-2 of the loss, its lowest point is taken without a second
// one. On photos (M 2 000 and 10 000, N 1 193 to 2 929, also with uneven classes) that was within 4e-4 of
// the smallest loss; were the loss bent a third more or less than thought, a tenth of what was promised
// would be lost. Ends with problem.solve(choice.lambda) or more, so that factor and dual are those of the
// choice and `factored` is set. A kernel that allows no choice (no sample, one sample, only zeros, not
// finite) gets a defined lambda and a note.
LambdaChoice choose_by_leave_one_out(LeaveOneOut& problem);

// The same search for GCV (engine/gcv.h) on the kernel, exactly: RSS = lambda^2 |A|^2 and
// N - df = lambda times the sum of d. Its slope is not known: three evaluations, mostly.
LambdaChoice choose_by_kernel_gcv(LeaveOneOut& problem);

}  // namespace engram
