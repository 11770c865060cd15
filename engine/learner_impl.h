// The parts of a Learner; private to learner*.cpp.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/kept_samples.h"
#include "engine/learner.h"
#include "engine/projection.h"
#include "engine/scorer.h"
#include "engine/statistics.h"
#include "platform/arena.h"

namespace engram {

struct SavedLearner;

struct Learner::Impl {
  Impl(const LearnerConfig& config, const Kernels& kernels, Arena memory)
      : config(config),
        arena(std::move(memory)),
        projection(std::make_shared<const Projection>(config, kernels, arena)),
        scorer(Scorer::share(projection, arena)),
        scratch(ProjectionScratch::take(config, learning_rows(config), arena)),
        batch_classes(arena.take<std::int32_t>(kMaxBatchRows)),
        statistics(config, kernels, arena),
        task(config, /*with_hidden=*/false) {
    arena.seal();
  }

  // In the dense form the rules that split the task need its samples until it ends.
  bool keeps_task() const {
    return statistics.form() == Form::dense &&
           (config.lambda_rule == LambdaRule::paper || config.lambda_rule == LambdaRule::code);
  }
  Status check_labels(std::span<const std::string> labels) const;
  // Room at create: for a first block, or for the samples of a task.
  Status reserve();
  // Makes room, moving to the dense form where that is needed, then adds the new classes: a failure
  // changes nothing that can be seen.
  Status prepare(std::span<const std::string> labels);
  Status move_to_dense();
  // One batch of at most scratch.h.rows samples: encoded rows, and h of them.
  Status accumulate(const std::byte* rows, MatrixView<const float> h,
                    std::span<const std::string> labels);
  Status publish(std::shared_ptr<const Readout> readout);
  // Into a learner that has learned nothing.
  Status restore_dense(const SavedLearner& saved);
  Status restore_factored(const SavedLearner& saved);
  Status prepare_labels(const std::vector<ClassInfo>& classes);

  const LearnerConfig config;
  Arena arena;
  std::shared_ptr<const Projection> projection;

  // Of the threads that classify.
  Scorer scorer;
  GrowingBuffer scores;    // (batch_rows, K) of the current readout
  std::mutex score_mutex;  // scorer and scores
  mutable std::mutex readout_mutex;
  std::shared_ptr<const Readout> readout;

  // Of the thread that learns.
  Arena scratch_memory = Arena::empty();  // after a move to the dense form
  ProjectionScratch scratch;
  std::int32_t* batch_classes;
  Statistics statistics;
  KeptSamples task;  // dense form; in the factored one they are the last task_samples of all
  std::int64_t task_samples = 0;
  int tasks = 0;
};

}  // namespace engram
