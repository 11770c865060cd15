#include "engine/left_out.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "platform/blas.h"
#include "platform/finite.h"

namespace engram {
namespace {

// The symmetric a (n, n), of which the upper triangle is read, becomes its inverse. LAPACK's
// column-major "L" is our upper triangle. False: not positive definite.
bool invert(std::vector<double>& a, int n) {
  int info = 0;
  dpotrf_("L", &n, a.data(), &n, &info);
  if (info != 0) return false;
  dpotri_("L", &n, a.data(), &n, &info);
  if (info != 0) return false;
  const auto width = std::size_t(n);
  for (std::size_t r = 0; r < width; ++r) {
    for (std::size_t c = 0; c < r; ++c) a[r * width + c] = a[c * width + r];
  }
  return are_finite(a);
}

// pivot: an entry of diag(B), at least lambda but for rounding.
float leverage_of(double pivot, double lambda) {
  return float(std::max(0.0, pivot / lambda - 1.0));
}

}  // namespace

std::vector<int> stratified_rows(std::span<const std::int32_t> classes, int class_count,
                                 int limit) {
  std::vector<int> rows;
  if (int(classes.size()) <= limit) {
    rows.resize(classes.size());
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  std::vector<std::vector<int>> members = rows_by_class(classes, class_count);
  std::erase_if(members, [](const std::vector<int>& one) { return one.empty(); });
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  int left = limit;
  for (std::size_t c = 0; c < members.size(); ++c) {
    const auto size = std::int64_t(members[c].size());
    const std::int64_t share = left / std::int64_t(members.size() - c);
    const std::int64_t taken = std::min(size, share);
    for (std::int64_t i = 0; i < taken; ++i) {
      rows.push_back(members[c][std::size_t(i * size / taken)]);
    }
    left -= int(taken);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

Result<LeftOut> LeftOut::create(const GramView& kernel, std::span<const std::int32_t> classes,
                                int class_count, double lambda, int limit, ScoreBlend blend,
                                FeatureRows features) {
  ENGRAM_CHECK(int(classes.size()) == kernel.size && lambda > 0 && limit > 0);
  LeftOut result;
  result.rows_ = stratified_rows(classes, class_count, limit);
  for (const int row : result.rows_) result.classes_.push_back(classes[std::size_t(row)]);
  result.class_count_ = class_count;
  result.members_ = rows_by_class(result.classes_, class_count);
  result.means_.emplace(std::move(features), result.rows_, result.classes_, std::move(blend),
                        class_count);
  const std::size_t n = result.rows_.size();
  if (n == 0) return result;
  result.lambda_ = lambda * double(n) / double(classes.size());

  std::vector<double>& inverse = result.inverse_;
  inverse.resize(n * n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = r; c < n; ++c) {
      inverse[r * n + c] = kernel.gram(result.rows_[r], result.rows_[c]);
    }
    inverse[r * n + r] += result.lambda_;
  }
  if (!invert(inverse, int(n))) {
    return Status(Code::bad_data,
                  "The kernel plus lambda has no Cholesky factor in double, so nothing can be said "
                  "about samples left out. What was learned is as it was.");
  }
  result.dual_.resize(n * std::size_t(class_count));
  for (std::size_t i = 0; i < n; ++i) {
    double* dual = result.dual_.data() + i * std::size_t(class_count);
    for (std::size_t j = 0; j < n; ++j) dual[result.classes_[j]] += inverse[i * n + j];
  }
  return result;
}

float LeftOut::leave_one(int i, std::span<float> scores) const {
  ENGRAM_CHECK(int(scores.size()) == class_count_);
  const double pivot = 1.0 / inverse(i)[i];
  const int own = classes_[std::size_t(i)];
  for (int k = 0; k < class_count_; ++k) {
    scores[std::size_t(k)] = float((k == own) - dual(i)[k] * pivot);
  }
  means_->blend({&i, 1}, scores);
  return leverage_of(pivot, lambda_);
}

bool LeftOut::leave(std::span<const int> out, std::span<float> scores,
                    std::span<float> leverages) const {
  const std::size_t n = out.size();
  const auto k = std::size_t(class_count_);
  ENGRAM_CHECK(scores.size() == n * k && leverages.size() == n);
  std::vector<double> block(n * n);  // P_bb, then B
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = r; c < n; ++c) block[r * n + c] = inverse(out[r])[out[c]];
  }
  if (!invert(block, int(n))) return false;
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t label = 0; label < k; ++label) {
      double score = classes_[std::size_t(out[r])] == std::int32_t(label) ? 1.0 : 0.0;
      for (std::size_t c = 0; c < n; ++c) score -= block[r * n + c] * dual(out[c])[label];
      scores[r * k + label] = float(score);
    }
    leverages[r] = leverage_of(block[r * n + r], lambda_);
  }
  means_->blend(out, scores);
  return true;
}

}  // namespace engram
