#include "engine/dual_ridge.h"

#include <algorithm>
#include <limits>

#include "platform/blas.h"

namespace engram {

DualRidge::DualRidge(GramView kernel, std::span<const std::int32_t> classes,
                     std::span<const int> samples, int learned, int class_count)
    : kernel_(kernel),
      classes_(classes),
      samples_(samples),
      learned_(learned),
      class_count_(class_count),
      factor_(std::size_t(learned) * std::size_t(learned)),
      a_(std::size_t(learned) * std::size_t(class_count)),
      row_(std::size_t(learned)) {}

double DualRidge::loss(double lambda) {
  const int n = learned_, held_out = int(samples_.size()) - learned_;
  for (int r = 0; r < n; ++r) {
    double* row = factor_.data() + std::ptrdiff_t{n} * r;
    for (int c = 0; c <= r; ++c) row[c] = kernel_.gram(samples_[r], samples_[c]);
    row[r] += lambda;
  }
  int info = 0;
  // Column-major: our row-major lower triangle is LAPACK's upper one.
  dpotrf_("U", &n, factor_.data(), &n, &info);
  if (info != 0) return std::numeric_limits<double>::quiet_NaN();

  // A by columns: one per class.
  std::fill(a_.begin(), a_.end(), 0.0);
  for (int b = 0; b < n; ++b) {
    a_[std::size_t(classes_[samples_[b]]) * std::size_t(n) + std::size_t(b)] = 1.0;
  }
  dpotrs_("U", &n, &class_count_, factor_.data(), &n, a_.data(), &n, &info);

  double sum = 0;
  std::vector<double> scores(static_cast<std::size_t>(class_count_));
  for (int b = n; b < n + held_out; ++b) {
    for (int c = 0; c < n; ++c) row_[c] = kernel_.gram(samples_[b], samples_[c]);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, class_count_, n, 1.0, a_.data(), n, row_.data(), 1,
                0.0, scores.data(), 1);
    for (int k = 0; k < class_count_; ++k) {
      const double error = scores[std::size_t(k)] - (classes_[samples_[b]] == k ? 1.0 : 0.0);
      sum += error * error;
    }
  }
  return sum / (double(held_out) * class_count_);
}

}  // namespace engram
