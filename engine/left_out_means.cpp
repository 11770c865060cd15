#include "engine/left_out_means.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace engram {

std::vector<std::vector<int>> rows_by_class(std::span<const std::int32_t> classes,
                                            int class_count) {
  std::vector<std::vector<int>> rows{std::size_t(class_count)};
  for (int i = 0; i < int(classes.size()); ++i) {
    rows[std::size_t(classes[std::size_t(i)])].push_back(i);
  }
  return rows;
}

LeftOutMeans::LeftOutMeans(const GramView& kernel, std::vector<int> rows,
                           std::vector<std::int32_t> classes, ScoreBlend blend, int class_count)
    : kernel_(kernel),
      rows_(std::move(rows)),
      classes_(std::move(classes)),
      blend_(std::move(blend)),
      members_(rows_by_class(classes_, class_count)),
      squared_lengths_(std::size_t(class_count)) {
  ENGRAM_CHECK(rows_.size() == classes_.size());
  if (blend_.mean == 0) return;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    for (std::size_t a = 0; a < members_[k].size(); ++a) {
      squared_lengths_[k] += kernel_of(members_[k][a], members_[k][a]);
      for (std::size_t b = 0; b < a; ++b) {
        squared_lengths_[k] += 2 * kernel_of(members_[k][a], members_[k][b]);
      }
    }
  }
}

std::vector<double> LeftOutMeans::lengths_without(std::span<const int> out) const {
  std::vector<double> squares = squared_lengths_;
  std::vector<std::size_t> gone(members_.size());
  for (const int i : out) {
    const auto own = std::size_t(classes_[std::size_t(i)]);
    ++gone[own];
    for (const int j : members_[own]) squares[own] -= 2 * kernel_of(i, j);
    for (const int j : out) {
      if (classes_[std::size_t(j)] == classes_[std::size_t(i)]) squares[own] += kernel_of(i, j);
    }
  }
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const bool left = gone[k] < members_[k].size();
    squares[k] = left ? std::sqrt(std::max(squares[k], 0.0)) : 0.0;
  }
  return squares;
}

void LeftOutMeans::blend(std::span<const int> out, std::span<float> scores) const {
  const std::size_t classes = members_.size();
  ENGRAM_CHECK(scores.size() == out.size() * classes);
  if (blend_.plain()) return;
  std::vector<double> lengths, products(classes);
  if (blend_.mean > 0) lengths = lengths_without(out);
  for (std::size_t b = 0; b < out.size(); ++b) {
    const std::span<float> row = scores.subspan(b * classes, classes);
    std::fill(products.begin(), products.end(), 0.0);
    for (int j = 0; j < int(rows_.size()); ++j) {
      products[std::size_t(classes_[std::size_t(j)])] += kernel_of(out[b], j);
    }
    for (const int j : out) {
      products[std::size_t(classes_[std::size_t(j)])] -= kernel_of(out[b], j);
    }
    blend_scores(blend_, products, lengths, row);
  }
}

}  // namespace engram
