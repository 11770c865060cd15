#include "engine/novelty.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "platform/blas.h"

namespace engram {
namespace {

// Square, symmetric, row-major; LAPACK's column-major "L" is our upper triangle.
struct Square {
  explicit Square(int n) : size(n), values(std::size_t(n) * std::size_t(n)) {}
  double& at(int r, int c) { return values[std::size_t(r) * std::size_t(size) + std::size_t(c)]; }
  int size;
  std::vector<double> values;
};

bool factor(Square& a) {
  int info = 0;
  dpotrf_("L", &a.size, a.values.data(), &a.size, &info);
  return info == 0;
}

// In place, both triangles. False: no factor.
bool invert(Square& a) {
  if (!factor(a)) return false;
  int info = 0;
  dpotri_("L", &a.size, a.values.data(), &a.size, &info);
  if (info != 0) return false;
  for (int r = 0; r < a.size; ++r) {
    for (int c = 0; c < r; ++c) a.at(r, c) = a.at(c, r);
  }
  return std::all_of(a.values.begin(), a.values.end(), [](double v) { return std::isfinite(v); });
}

// (Kk + lambda I)^-1 of some rows.
Status invert_kernel(const GramView& kernel, std::span<const int> rows, double lambda,
                     Square& inverse) {
  for (int r = 0; r < inverse.size; ++r) {
    for (int c = 0; c <= r; ++c) {
      inverse.at(c, r) = kernel.gram(rows[std::size_t(r)], rows[std::size_t(c)]);
    }
    inverse.at(r, r) += lambda;
  }
  if (invert(inverse)) return {};
  return Status(Code::bad_data,
                "The kernel plus lambda has no Cholesky factor in double: what is unknown cannot "
                "be told apart. What was learned is as it was.");
}

std::vector<std::vector<int>> rows_by_class(std::span<const std::int32_t> classes,
                                            int class_count) {
  std::vector<std::vector<int>> rows{std::size_t(class_count)};
  for (int i = 0; i < int(classes.size()); ++i) {
    rows[std::size_t(classes[std::size_t(i)])].push_back(i);
  }
  return rows;
}

float leverage(double pivot, double lambda) {  // pivot: an entry of diag(B), lambda at least
  return float(std::max(0.0, pivot / lambda - 1.0));
}

// Everything that is asked of one sub-problem.
class LeftOut {
 public:
  LeftOut(Square inverse, std::vector<std::int32_t> classes, int class_count, double lambda)
      : inverse_(std::move(inverse)),
        classes_(std::move(classes)),
        class_count_(class_count),
        lambda_(lambda),
        members_(rows_by_class(classes_, class_count)),
        dual_(classes_.size() * std::size_t(class_count)),
        scores_(std::size_t(class_count)) {
    // A = P Y: sums of columns of P.
    for (int i = 0; i < inverse_.size; ++i) {
      for (int j = 0; j < inverse_.size; ++j) {
        dual(i)[classes_[std::size_t(j)]] += inverse_.at(i, j);
      }
    }
  }

  void known(std::vector<ScoreSummary>& examples) {
    for (int i = 0; i < inverse_.size; ++i) {
      const int own = classes_[std::size_t(i)];
      if (members_[std::size_t(own)].size() < 2) continue;
      const double pivot = 1.0 / inverse_.at(i, i);
      for (int k = 0; k < class_count_; ++k) {
        scores_[std::size_t(k)] = float((k == own) - dual(i)[k] * pivot);
      }
      examples.push_back(summarise(scores_, own, leverage(pivot, lambda_)));
    }
  }

  // False: a block of the inverse has no factor.
  bool unknown(std::vector<ScoreSummary>& examples) {
    return std::all_of(members_.begin(), members_.end(),
                       [&](const std::vector<int>& rows) { return leave_out(rows, examples); });
  }

 private:
  double* dual(int i) { return dual_.data() + std::size_t(i) * std::size_t(class_count_); }

  bool leave_out(const std::vector<int>& rows, std::vector<ScoreSummary>& examples) {
    const int n = int(rows.size());
    if (n == 0) return true;
    const int own = classes_[std::size_t(rows[0])];
    Square block(n);  // P_bb, then B
    for (int r = 0; r < n; ++r) {
      for (int c = r; c < n; ++c) {
        block.at(r, c) = inverse_.at(rows[std::size_t(r)], rows[std::size_t(c)]);
      }
    }
    if (!invert(block)) return false;
    for (int r = 0; r < n; ++r) {
      for (int k = 0; k < class_count_; ++k) {
        double score = 0;  // y is 0: the class itself is left out
        for (int c = 0; c < n; ++c) score -= block.at(r, c) * dual(rows[std::size_t(c)])[k];
        scores_[std::size_t(k)] = float(score);
      }
      examples.push_back(summarise(scores_, -1, leverage(block.at(r, r), lambda_), own));
    }
    return true;
  }

  Square inverse_;
  std::vector<std::int32_t> classes_;
  int class_count_;
  double lambda_;
  std::vector<std::vector<int>> members_;
  std::vector<double> dual_;  // A (n, K)
  std::vector<float> scores_;
};

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

Result<NoveltyExamples> novelty_examples(const GramView& kernel,
                                         std::span<const std::int32_t> classes, int class_count,
                                         double lambda, int limit) {
  ENGRAM_CHECK(int(classes.size()) == kernel.size && lambda > 0);
  NoveltyExamples examples;
  examples.rows = stratified_rows(classes, class_count, limit);
  if (examples.rows.empty()) return examples;
  std::vector<std::int32_t> kept;
  for (const int row : examples.rows) kept.push_back(classes[std::size_t(row)]);
  const double scaled = lambda * double(kept.size()) / double(classes.size());
  Square inverse{int(kept.size())};
  ENGRAM_TRY(invert_kernel(kernel, examples.rows, scaled, inverse));
  const auto present = std::set<std::int32_t>(kept.begin(), kept.end()).size();
  LeftOut left_out(std::move(inverse), std::move(kept), class_count, scaled);
  left_out.known(examples.known);
  if (present >= 3 && !left_out.unknown(examples.unknown)) examples.unknown.clear();
  return examples;
}

double area_under_roc(std::span<const float> high, std::span<const float> low) {
  if (high.empty() || low.empty()) return 0.5;
  std::vector<float> sorted(low.begin(), low.end());
  std::sort(sorted.begin(), sorted.end());
  double wins = 0;
  for (const float value : high) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    wins += double(first - sorted.begin()) + 0.5 * double(last - first);
  }
  return wins / (double(high.size()) * double(low.size()));
}

}  // namespace engram
