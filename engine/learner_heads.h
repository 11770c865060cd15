// Heads that are a Learner, as it is or with its readout or its samples treated.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/protocol_head.h"

namespace engram {

// A Learner; `reshape`, where given, makes from each new readout the one that answers.
class LearnerHead : public ProtocolHead {
 public:
  using Reshape = std::function<Readout(const Readout&, const std::vector<ClassInfo>&)>;
  explicit LearnerHead(Learner learner, Reshape reshape = {})
      : learner_(std::move(learner)), reshape_(std::move(reshape)) {}

  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override {
    return learner_.learn(features, labels);
  }
  Result<ReadoutReport> end_task() override;
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override;
  std::vector<ClassInfo> classes() const override { return learner_.classes(); }

 private:
  Learner learner_;
  Reshape reshape_;
  Readout reshaped_;
};

// All products of two of the first `count` features, as features of another head: count (count +
// 1) / 2 of them. f_i f_j with i != j stands for itself and f_j f_i by a factor sqrt(2), so that
// ridge regression on them is the one on the flattened cross product (RanPAC, figure 3b).
class PairwiseHead : public ProtocolHead {
 public:
  static constexpr int kFeatures = 100;
  static int width(int features);  // of the products

  explicit PairwiseHead(std::unique_ptr<ProtocolHead> inner) : inner_(std::move(inner)) {}
  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override;
  Result<ReadoutReport> end_task() override { return inner_->end_task(); }
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override;
  std::vector<ClassInfo> classes() const override { return inner_->classes(); }

 private:
  MatrixView<const float> products(MatrixView<const float> features);

  std::unique_ptr<ProtocolHead> inner_;
  std::vector<float> rows_;
};

}  // namespace engram
