// The parts of a Learner; private to learner*.cpp.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/learner.h"
#include "engine/projection.h"
#include "engine/scorer.h"
#include "engine/statistics.h"
#include "engine/task_samples.h"
#include "platform/arena.h"

namespace engram {

struct Learner::Impl {
  Impl(const LearnerConfig& config, const Kernels& kernels, Arena memory)
      : config(config),
        arena(std::move(memory)),
        projection(std::make_shared<const Projection>(config, kernels, arena)),
        scorer(Scorer::share(projection, arena)),
        scratch(ProjectionScratch::take(config, arena)),
        batch_classes(arena.take<std::int32_t>(kMaxBatchRows)),
        statistics(config.hidden_units(),
                   config.arithmetic == Arithmetic::exact ? config.hidden_max : 0, kernels, arena),
        task(Projection::row_bytes(config)) {
    arena.seal();
  }

  bool keeps_samples() const { return config.lambda_rule != LambdaRule::fixed; }
  Status check_labels(std::span<const std::string> labels) const;
  // Makes room, then adds the new classes: a failure changes nothing.
  Status prepare(std::span<const std::string> labels);
  // One batch of at most kMaxBatchRows, already in h and batch_classes.
  Status accumulate(MatrixView<const float> h, std::span<const std::string> labels);
  void publish(std::shared_ptr<const Readout> readout);

  const LearnerConfig config;
  Arena arena;
  std::shared_ptr<const Projection> projection;

  // Of the threads that classify.
  Scorer scorer;
  GrowingBuffer scores;    // (256, K) of the current readout
  std::mutex score_mutex;  // scorer and scores
  mutable std::mutex readout_mutex;
  std::shared_ptr<const Readout> readout;

  // Of the thread that learns.
  ProjectionScratch scratch;
  std::int32_t* batch_classes;
  Statistics statistics;
  TaskSamples task;
  std::int64_t task_samples = 0;
  int tasks = 0;
};

}  // namespace engram
