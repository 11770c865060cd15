#include "engine/learner_heads.h"

#include <algorithm>
#include <numbers>

namespace engram {

Result<ReadoutReport> LearnerHead::end_task() {
  ENGRAM_ASSIGN(ReadoutReport report, learner_.end_task());
  if (reshape_) reshaped_ = reshape_(*learner_.readout(), learner_.classes());
  return report;
}

Status LearnerHead::classify(MatrixView<const float> features, std::span<Prediction> predictions) {
  if (!reshape_) return learner_.classify(features, predictions);
  const int classes = int(reshaped_.classes.size());
  std::vector<float> scores(std::size_t(features.rows) * std::size_t(classes));
  const MatrixView<float> view{scores.data(), features.rows, classes, classes};
  ENGRAM_TRY(learner_.score(features, reshaped_, view));
  take_best(view, predictions);
  return {};
}

int PairwiseHead::width(int features) {
  const int used = std::min(features, kFeatures);
  return used * (used + 1) / 2;
}

MatrixView<const float> PairwiseHead::products(MatrixView<const float> features) {
  const int used = std::min(features.cols, kFeatures), columns = width(features.cols);
  rows_.clear();
  rows_.reserve(std::size_t(features.rows) * std::size_t(columns));
  for (int b = 0; b < features.rows; ++b) {
    const float* f = features.row(b);
    for (int i = 0; i < used; ++i) {
      rows_.push_back(f[i] * f[i]);
      for (int j = i + 1; j < used; ++j) {
        rows_.push_back(std::numbers::sqrt2_v<float> * f[i] * f[j]);
      }
    }
  }
  return {rows_.data(), features.rows, columns, columns};
}

Status PairwiseHead::learn(MatrixView<const float> features, std::span<const std::string> labels) {
  return inner_->learn(products(features), labels);
}

Status PairwiseHead::classify(MatrixView<const float> features, std::span<Prediction> predictions) {
  return inner_->classify(products(features), predictions);
}

}  // namespace engram
