// Heads that need G, C and counts themselves: linear discriminant and balanced ridge
// (engine/readout_kinds.h), on the features or on the hidden units.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/projection.h"
#include "engine/protocol_head.h"
#include "engine/readout_kinds.h"
#include "platform/arena.h"

namespace engram {

class StatisticsHead : public ProtocolHead {
 public:
  // balanced: class-balanced ridge, with the lambda that a Learner of the same config beside it
  // chooses. Else the discriminant of that shrinkage.
  struct Settings {
    LearnerConfig config;
    double shrinkage = 0;
    bool balanced = false;
  };
  static Result<std::unique_ptr<ProtocolHead>> create(const Settings& settings,
                                                      const Kernels& kernels);

  Status learn(MatrixView<const float> features, std::span<const std::string> labels) override;
  Result<ReadoutReport> end_task() override;
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions) override;
  std::vector<ClassInfo> classes() const override { return classes_; }

 private:
  StatisticsHead(const Settings& settings, const Kernels& kernels, Arena memory);

  Settings settings_;
  const Kernels& kernels_;
  Arena memory_;
  Projection projection_;
  ProjectionScratch scratch_;
  GramView gram_;
  std::vector<ClassInfo> classes_;
  std::vector<float> sums_;         // C, (K, M)
  std::optional<Learner> chooser_;  // of lambda
  LinearReadout readout_;
};

}  // namespace engram
