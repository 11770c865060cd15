#include "engine/dual_ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/blas.h"

namespace engram {
namespace {
constexpr int kTile = 512;  // hidden units converted to double at a time
}

DualRidge::DualRidge(MatrixView<const float> h, std::span<const std::int32_t> classes, int learned,
                     int class_count)
    : n_(h.rows),
      learned_(learned),
      class_count_(class_count),
      classes_(classes.begin(), classes.end()),
      kernel_(std::size_t(h.rows) * std::size_t(h.rows)) {
  std::vector<double> tile(std::size_t(n_) * kTile);
  for (int first = 0; first < h.cols; first += kTile) {
    const int width = std::min(kTile, h.cols - first);
    for (int b = 0; b < n_; ++b) {
      std::copy_n(h.row(b) + first, width, tile.data() + std::ptrdiff_t{kTile} * b);
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n_, width, 1.0, tile.data(), kTile, 1.0,
                kernel_.data(), n_);
  }
}

double DualRidge::loss(double lambda) const {
  const int n = learned_, held_out = n_ - learned_;
  std::vector<double> factor(std::size_t(n) * std::size_t(n));
  for (int r = 0; r < n; ++r) {
    double* row = factor.data() + std::ptrdiff_t{n} * r;
    std::copy_n(kernel_.data() + std::ptrdiff_t{n_} * r, r + 1, row);
    row[r] += lambda;
  }
  int info = 0;
  // Column-major: our row-major lower triangle is LAPACK's upper one.
  dpotrf_("U", &n, factor.data(), &n, &info);
  if (info != 0) return std::numeric_limits<double>::quiet_NaN();

  // A by columns: one per class.
  std::vector<double> a(std::size_t(n) * std::size_t(class_count_));
  for (int b = 0; b < n; ++b) a[std::size_t(classes_[b]) * std::size_t(n) + std::size_t(b)] = 1.0;
  dpotrs_("U", &n, &class_count_, factor.data(), &n, a.data(), &n, &info);

  std::vector<double> scores(std::size_t(held_out) * std::size_t(class_count_));
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, held_out, class_count_, n, 1.0,
              kernel_.data() + std::ptrdiff_t{n_} * n, n_, a.data(), n, 0.0, scores.data(),
              class_count_);
  double sum = 0;
  for (int b = 0; b < held_out; ++b) {
    for (int k = 0; k < class_count_; ++k) {
      const double wanted = classes_[std::size_t(n + b)] == k ? 1.0 : 0.0;
      const double error =
          scores[std::size_t(b) * std::size_t(class_count_) + std::size_t(k)] - wanted;
      sum += error * error;
    }
  }
  return sum / (double(held_out) * class_count_);
}

}  // namespace engram
