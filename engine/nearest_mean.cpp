#include "engine/nearest_mean.h"

#include <algorithm>
#include <cmath>

#include "engine/feature_check.h"
#include "engine/label.h"

namespace engram {
namespace {

double length(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

}  // namespace

Status NearestMean::learn(MatrixView<const float> features, std::span<const std::string> labels) {
  ENGRAM_CHECK(std::size_t(features.rows) == labels.size());
  ENGRAM_TRY(check_features(features, features_));
  for (const std::string& label : labels) ENGRAM_TRY(check_label(label));
  for (int b = 0; b < features.rows; ++b) {
    const std::string& label = labels[std::size_t(b)];
    auto found = std::find_if(classes_.begin(), classes_.end(),
                              [&](const ClassInfo& info) { return info.label == label; });
    if (found == classes_.end()) {
      classes_.push_back({label, 0});
      sums_.emplace_back(std::size_t(features_));
      found = classes_.end() - 1;
    }
    ++found->samples;
    std::vector<double>& sum = sums_[std::size_t(found - classes_.begin())];
    for (int l = 0; l < features_; ++l) sum[std::size_t(l)] += features(b, l);
  }
  return {};
}

Status NearestMean::classify(MatrixView<const float> features,
                             std::span<Prediction> predictions) const {
  ENGRAM_CHECK(std::size_t(features.rows) == predictions.size());
  ENGRAM_TRY(check_features(features, features_));
  std::vector<double> row(static_cast<std::size_t>(features_)), mean_lengths;
  for (const std::vector<double>& sum : sums_) {
    mean_lengths.push_back(length(sum.data(), features_));
  }
  for (int b = 0; b < features.rows; ++b) {
    std::copy_n(features.row(b), features_, row.begin());
    const double row_length = length(row.data(), features_);
    Prediction best;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const double lengths = row_length * mean_lengths[k];
      double product = 0;
      for (int l = 0; l < features_; ++l) product += row[std::size_t(l)] * sums_[k][std::size_t(l)];
      const auto cosine = float(lengths > 0 ? product / lengths : 0.0);
      if (best.class_index < 0 || cosine > best.score) best = {int(k), cosine};
    }
    predictions[std::size_t(b)] = best;
  }
  return {};
}

}  // namespace engram
