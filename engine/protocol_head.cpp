#include "engine/protocol_head.h"

#include <utility>

#include <fmt/format.h>

#include "engine/nearest_mean.h"

namespace engram {
namespace {

class LearnerHead : public ProtocolHead {
 public:
  explicit LearnerHead(Learner learner) : learner_(std::move(learner)) {}
  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override {
    return learner_.learn(features, labels);
  }
  Result<ReadoutReport> end_task() override { return learner_.end_task(); }
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override {
    return learner_.classify(features, predictions);
  }
  std::vector<ClassInfo> classes() const override { return learner_.classes(); }

 private:
  Learner learner_;
};

class NearestMeanHead : public ProtocolHead {
 public:
  explicit NearestMeanHead(int features) : means_(features) {}
  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override {
    return means_.learn(features, labels);
  }
  Result<ReadoutReport> end_task() override { return ReadoutReport{}; }
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override {
    return means_.classify(features, predictions);
  }
  std::vector<ClassInfo> classes() const override { return means_.classes(); }

 private:
  NearestMean means_;
};

}  // namespace

const char* name(Head head) {
  switch (head) {
    case Head::ranpac:
      return "ranpac";
    case Head::no_projection:
      return "no-projection";
    case Head::ncm:
      return "ncm";
  }
  return "?";
}

Result<Head> parse_head(const std::string& text) {
  for (const Head head : {Head::ranpac, Head::no_projection, Head::ncm}) {
    if (text == name(head)) return head;
  }
  return Status(Code::invalid_argument,
                fmt::format("head is \"{}\"; it can be one of: ranpac, no-projection, ncm.", text));
}

Result<std::unique_ptr<ProtocolHead>> make_head(Head head, LearnerConfig config, int features,
                                                const Kernels& kernels) {
  config.features = features;
  if (head == Head::ncm) {
    return std::unique_ptr<ProtocolHead>(std::make_unique<NearestMeanHead>(features));
  }
  if (head == Head::no_projection) {
    config.hidden = 0;
    config.arithmetic = Arithmetic::floating;
  }
  ENGRAM_ASSIGN(Learner learner, Learner::create(config, kernels));
  return std::unique_ptr<ProtocolHead>(std::make_unique<LearnerHead>(std::move(learner)));
}

}  // namespace engram
