#include "engine/left_out_means.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace engram {
namespace {

double product_in_lanes(const float* a, const float* b, int count) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};
  for (int i = 0; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (int i = count / kLanes * kLanes; i < count; ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace

std::vector<std::vector<int>> rows_by_class(std::span<const std::int32_t> classes,
                                            int class_count) {
  std::vector<std::vector<int>> rows{std::size_t(class_count)};
  for (int i = 0; i < int(classes.size()); ++i) {
    rows[std::size_t(classes[std::size_t(i)])].push_back(i);
  }
  return rows;
}

LeftOutMeans::LeftOutMeans(FeatureRows features, std::vector<int> rows,
                           std::vector<std::int32_t> classes, ScoreBlend blend, int class_count)
    : features_(std::move(features)),
      rows_(std::move(rows)),
      classes_(std::move(classes)),
      blend_(std::move(blend)),
      sizes_(std::size_t(class_count)) {
  ENGRAM_CHECK(rows_.size() == classes_.size());
  if (blend_.mean == 0) return;
  ENGRAM_CHECK(features_.row != nullptr);
  const int width = features_.width;
  std::vector<float> f(static_cast<std::size_t>(width));
  sums_.resize(sizes_.size() * f.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto own = std::size_t(classes_[i]);
    features_.row(rows_[i], f.data());
    ++sizes_[own];
    float* to = sums_.data() + own * f.size();
    for (std::size_t l = 0; l < f.size(); ++l) to[l] += f[l];
  }
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    squared_lengths_.push_back(squared_length(sum(k), width));
  }
}

std::vector<double> LeftOutMeans::lengths_without(std::span<const int> out,
                                                  std::span<const float> f) const {
  const int width = features_.width;
  const auto row = [&](std::size_t b) { return f.data() + b * std::size_t(width); };
  const auto own = [&](std::size_t b) { return std::size_t(classes_[std::size_t(out[b])]); };
  std::vector<double> squares = squared_lengths_;
  std::vector<std::size_t> gone(sizes_.size());
  for (std::size_t b = 0; b < out.size(); ++b) {
    ++gone[own(b)];
    squares[own(b)] -= 2 * product_in_lanes(row(b), sum(own(b)), width);
    for (std::size_t c = 0; c < out.size(); ++c) {
      if (own(c) == own(b)) squares[own(b)] += product_in_lanes(row(b), row(c), width);
    }
  }
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const bool left = gone[k] < sizes_[k];
    squares[k] = left ? std::sqrt(std::max(squares[k], 0.0)) : 0.0;
  }
  return squares;
}

void LeftOutMeans::blend(std::span<const int> out, std::span<float> scores) const {
  const std::size_t classes = sizes_.size();
  ENGRAM_CHECK(scores.size() == out.size() * classes);
  if (blend_.plain()) return;
  const int width = features_.width;
  std::vector<double> lengths, products(classes);
  std::vector<float> f;
  if (blend_.mean > 0) {
    f.resize(out.size() * std::size_t(width));
    for (std::size_t b = 0; b < out.size(); ++b) {
      features_.row(rows_[std::size_t(out[b])], f.data() + b * std::size_t(width));
    }
    lengths = lengths_without(out, f);
  }
  for (std::size_t b = 0; b < out.size(); ++b) {
    if (blend_.mean > 0) {
      const float* row = f.data() + b * std::size_t(width);
      for (std::size_t k = 0; k < classes; ++k) products[k] = product_in_lanes(row, sum(k), width);
      for (std::size_t c = 0; c < out.size(); ++c) {
        products[std::size_t(classes_[std::size_t(out[c])])] -=
            product_in_lanes(row, f.data() + c * std::size_t(width), width);
      }
    }
    blend_scores(blend_, products, lengths, scores.subspan(b * classes, classes));
  }
}

}  // namespace engram
