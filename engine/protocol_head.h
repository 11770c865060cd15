// The heads that the protocol compares, behind one interface.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/protocol.h"

namespace engram {

// What the protocol needs of a learner. Classes are numbered in the order in which they come.
class ProtocolHead {
 public:
  virtual ~ProtocolHead() = default;
  virtual Status learn(MatrixView<const float> features, std::span<const std::string> labels) = 0;
  virtual Result<ReadoutReport> end_task() = 0;
  virtual Status classify(MatrixView<const float> features, std::span<Prediction> predictions) = 0;
  virtual std::vector<ClassInfo> classes() const = 0;
};

// `config` with that many features; of it, no_projection takes what concerns a readout, ncm nothing.
Result<std::unique_ptr<ProtocolHead>> make_head(Head head, LearnerConfig config, int features,
                                                const Kernels& kernels);

}  // namespace engram
