// The heads that the protocols compare, behind one interface.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/protocol.h"

namespace engram {

// What a protocol needs of a learner. Classes are numbered in the order in which they come.
class ProtocolHead {
 public:
  virtual ~ProtocolHead() = default;
  virtual Status learn(MatrixView<const float> features, std::span<const std::string> labels) = 0;
  virtual Result<ReadoutReport> end_task() = 0;
  virtual Status classify(MatrixView<const float> features, std::span<Prediction> predictions) = 0;
  virtual std::vector<ClassInfo> classes() const = 0;
};

// options.head with options.config for that many features; `class_names` are the rows of
// options.targets. invalid_argument: targets or a setting that the head needs and does not have.
Result<std::unique_ptr<ProtocolHead>> make_head(const ProtocolOptions& options, int features,
                                                const std::vector<std::string>& class_names,
                                                const Kernels& kernels);

// For heads: the best of `classes` scores in each row.
void take_best(MatrixView<const float> scores, std::span<Prediction> predictions);

}  // namespace engram
