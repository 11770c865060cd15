// The inside of AdaptTraining, for the files that make it up.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/adapt_training.h"
#include "engine/cosine_head.h"
#include "engine/vit_network.h"
#include "platform/arena.h"

namespace engram {

// A loss so many times above where it began, and one more, is a training that diverged: in one step,
// or in the mean of an epoch.
inline constexpr double kStepLimit = 10, kEpochLimit = 3;

struct AdaptTraining::Impl {
  Impl(const VitModel& model, const AdaptSettings& settings, const AdaptData& data, AdaptPlan plan,
       const Kernels& kernels, Arena arena);

  // adapt_training.cpp
  int steps() const;  // of an epoch
  std::vector<int> order_of(int epoch) const;
  Status run_epoch(const AdaptProgress& progress);
  Status end_epoch();
  void forget_epoch();  // step, sums and seconds of the epoch under way

  // adapt_training_head.cpp
  Status start_head();

  // adapt_training_step.cpp
  Status step(std::span<const int> samples, double& loss);
  Status watch(HeadResult& result);  // the pictures that are held out
  Status load(std::span<const int> samples, int epoch);
  Status check_loss(double loss, double most);
  Status check_parameters();
  Status diverged(const std::string& what);  // back to the last epoch
  void keep_good();

  MatrixView<float> values() { return {parameters.values.data(), 1, count(), count()}; }
  int count() const { return int(parameters.values.size()); }

  const VitModel& model;
  const AdaptSettings settings;  // with the plan's choice
  const AdaptData data;
  const AdaptPlan plan;
  const Kernels& kernels;
  const std::vector<int> trained;  // samples that are not held out
  Arena arena;
  BufferList list;
  AdaptParameters parameters;
  AdaptBuffers buffers;
  SharedVector<float> tensors;  // (B, 3 image^2): filled by others while the device may be at work
  std::vector<int> labels;      // of a micro-batch
  VitNetwork network;
  CosineHead head;
  const AdaptViews<const float> adapt;
  const AdaptViews<float> gradients;

  std::vector<AdaptEpoch> curves;
  // Of the epoch under way:
  int next_step = 0;
  HeadResult sums;
  double seconds = 0;
  double first_loss = 0;  // of the very first step
};

}  // namespace engram
