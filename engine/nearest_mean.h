// Nearest class mean by cosine: the plainest head, for comparison.
//
//     score[k] = f . mu[k] / (|f| |mu[k]|),   mu[k] the sum of the features of class k
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

class NearestMean {
 public:
  explicit NearestMean(int features) : features_(features) {}
  // Refusals as Learner's; they change nothing.
  Status learn(MatrixView<const float> features, std::span<const std::string> labels);
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) const;
  const std::vector<ClassInfo>& classes() const { return classes_; }

 private:
  int features_;
  std::vector<ClassInfo> classes_;
  std::vector<std::vector<double>> sums_;  // one per class
};

}  // namespace engram
