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
#include "engine/leverage.h"
#include "engine/projection.h"
#include "engine/readout_pool.h"
#include "engine/score_blend.h"
#include "engine/scorer.h"
#include "engine/statistics.h"
#include "engine/witnesses.h"
#include "engine/woodbury.h"
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
        task(config, /*with_hidden=*/false),
        pending(config, /*with_hidden=*/false),
        woodbury(kernels, config.hidden_units()),
        witnesses(config) {
    arena.seal();
  }

  // In the dense form the rules that split the task need its samples until it ends.
  bool keeps_task() const {
    return statistics.form() == Form::dense && splits_task(config.lambda_rule);
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
  Status publish(std::shared_ptr<const Readout> readout);  // null: there is none
  // A full solve of that kind: blend, ridge or mean. `factored`: the factor is there already; dual:
  // and so is the solution on the kernel, unless it is empty.
  Result<Readout> solve_kind(ReadoutKind kind, double lambda, std::string& note, bool factored,
                             std::vector<float> dual);
  // The same of the config's kind; what refresh() needs of it is noted.
  Result<std::shared_ptr<const Readout>> solve_all(double lambda, std::string& note, bool factored,
                                                   std::vector<float> dual);
  // The factor is about to be overwritten.
  void forget_factor();
  // The readout of everything learned, from `before`; null: only a full solve can make it.
  Result<std::shared_ptr<const Readout>> refresh_factored(const Readout& before);
  Result<std::shared_ptr<const Readout>> refresh_dense(const Readout& before);
  // All of the next readout but its weights, which may be old ones of any size.
  std::shared_ptr<Readout> extended(const Readout& before);
  ScoreBlend blend_of(ReadoutKind kind) const {
    const std::vector<ClassInfo>& classes = statistics.classes().all();
    return score_blend(kind, classes, statistics.features().usual_length(classes));
  }
  ScoreBlend blend() const { return blend_of(config.readout); }
  // Ridge, in its weights, becomes that blend.
  void blend_into(const ScoreBlend& parts, Readout& readout) const;
  MatrixView<float> rows_of(SharedVector<float>& part) const;  // (K, M), rows that are new are zero
  // Of the dense form: samples since the last solve, up to which the next readout follows from it.
  int pending_limit() const { return config.hidden_units() / 8; }
  // Of editing (learner_edit.cpp): ok if these can be samples that were learned.
  Status check_learned(const LearnedSamples& samples) const;
  static Status not_learned(const std::string& what);  // invalid_argument, nothing was changed
  // Where they are among the kept ones; in the dense form not all of them must be.
  Result<std::vector<int>> find_kept(const LearnedSamples& samples) const;
  // Dense: h of samples first..first + count - 1 in scratch, their classes in batch_classes.
  Result<MatrixView<const float>> project(const SampleBatch& batch, std::size_t first,
                                          std::size_t count);
  Status take_back_sums(const LearnedSamples& samples);
  Status move_sums(const LearnedSamples& samples, int to);
  void drop_empty_classes();
  // Dense form, before they are learned: what the current readout says of samples, encoded rows
  // and h (B, M). Room first. (The readout is written by the thread that learns alone, so it needs no lock here.)
  Status reserve_said(const Readout* current);
  Status note_said(const std::byte* rows, MatrixView<const float> h,
                   std::span<const std::int32_t> classes);
  // Into a learner that has learned nothing.
  Status restore_dense(const SavedLearner& saved);
  Status restore_factored(const SavedLearner& saved);

  const LearnerConfig config;
  Arena arena;
  std::shared_ptr<const Projection> projection;

  // Of the threads that classify.
  Scorer scorer;
  GrowingBuffer scores;    // (batch_rows, K and 1) of the current readout
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
  bool is_half_changed = false;  // a learn() is under way, or failed on its way
  std::int64_t closed_ids = 0;   // samples up to this one are of tasks that have ended
  int tasks = 0;

  // Of refresh(), with the current factor. Factored: how the readout was blended. Dense: the ridge part
  // of `solved`.
  ScoreBlend blended_by;
  SharedVector<float> ridge_part;  // (K, M)
  ReadoutPool readouts;
  // Of refresh() in the dense form: the solve that its factor is of, and what was learned since.
  std::shared_ptr<const Readout> solved;  // null: no factor
  KeptSamples pending;                    // all since then, while they are few
  Woodbury woodbury;                      // the first of them, those that a readout has
  Prequential said_before;                // the current readout's, and dense: since then
  Witnesses witnesses;                    // dense form
  GrowingBuffer said_scores;              // (scratch.h.rows, K and 1) of the current readout
};

}  // namespace engram
