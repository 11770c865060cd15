// The learner: features and labels in, labels out. RanPAC's Phase 2 in memory, without disk.
//
//     f > [quantise > sign_project > activate] > h       exact      (engine/projection.h)
//     f > project > h                                    floating
//     f, h, label > F, and G, C or the samples           learn      (engine/statistics.h)
//     lambda > (G + lambda I)^-1 C, F > Wo, Wf           end_task   (engine/readout.h, score_blend.h)
//     h, f > scores > label                              classify   (engine/readout_scores.h)
//
// Threads. One thread learns. Any number may classify meanwhile: they hold the Readout that was
// current when they asked (readout()), and the next one replaces it whole. score and classify take
// turns on one scratch; a thread that wants its own has a Scorer (engine/scorer.h). On a GPU they all
// take turns, one operation each; where CPU and GPU must not touch memory at the same time (Orin),
// longer ones: a batch that is learned, one step of a solve (platform/device_memory.h).
// Memory. All of it is in memory_plan.h's plan. Classifying allocates nothing after create. Learning
// samples of known classes allocates nothing either, but for growth: where samples are kept every 128 of
// them, once when the form becomes dense, and then when a task has more than kReservedTaskSamples.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/form.h"
#include "engine/judgement.h"
#include "engine/memory_plan.h"
#include "engine/readout.h"
#include "engine/sample_batch.h"
#include "engine/snapshot.h"
#include "engine/statistics.h"
#include "engine/teaching.h"
#include "kernels/chosen_kernels.h"
#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

// What a state lacks that has no sums of features.
inline constexpr const char* kWithoutFeatureSums =
    "no sums of features: an earlier version made this state and kept none, so answers are by "
    "ridge "
    "regression alone, without class means; teach a new state to have them";

class Learner {
 public:
  // Refuses a config that validate() refuses, and one whose plan does not fit this machine.
  static Result<Learner> create(const LearnerConfig& config,
                                const Kernels& kernels = chosen_kernels());
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;
  ~Learner();

  const LearnerConfig& config() const;
  const Kernels& kernels() const;          // that it computes with
  std::vector<ClassInfo> classes() const;  // in the order in which they were first seen
  std::int64_t samples() const;            // learned in all
  std::int64_t task_samples() const;       // learned since the last end of a task
  int tasks() const;                       // ended so far
  std::int64_t last_id() const;            // of the newest sample; never smaller than samples()
  Form form() const;
  // learn() failed after its first change, for want of memory on a device: read the state again.
  bool is_half_changed() const;

  // Features (B, L) to the form the journal keeps. Refuses NaN, Inf, a wrong width, an empty or
  // overlong label, a new one that check_new_label (label.h) refuses. Changes nothing.
  Result<SampleBatch> encode(MatrixView<const float> features,
                             std::span<const std::string> labels) const;
  // ok if learn(batch) would accept it: what is journalled must be something that can be replayed.
  Status check(const SampleBatch& batch) const;
  // Adds encoded samples to what was learned and to the current task. Labels not seen before become
  // new classes. out_of_memory: nothing was learned.
  Status learn(const SampleBatch& batch);
  // encode, then learn.
  Status learn(MatrixView<const float> features, std::span<const std::string> labels);

  // The two halves of end_task, for those who must make the result durable in between. solve
  // chooses lambda, factors, solves, and changes nothing that can be seen. `lambda`, where given,
  // is used as it is (a replayed choice; the report's rule is then "replayed").
  struct Solution {
    std::shared_ptr<const Readout> readout;
    ReadoutReport report;
  };
  Result<Solution> solve(std::optional<double> lambda = std::nullopt);
  // Ends the task: `readout` becomes the current one, the task's samples become samples of the
  // past, tasks() grows by one. Null keeps the current readout: replaying a task whose readout a
  // later task replaced needs no solution.
  Status close_task(std::shared_ptr<const Readout> readout);

  // solve, then close_task. Chooses lambda, factors, solves; the new readout replaces the old one
  // whole. On failure the old one stays and the task stays open. `lambda`, where given, is used as
  // it is (a replayed choice).
  Result<ReadoutReport> end_task(std::optional<double> lambda = std::nullopt);

  // Instant learning: makes the current readout equal to a full solve, at the lambda it has, of
  // everything learned until now, and returns it. Null: there is no readout yet, and no lambda.
  Result<std::shared_ptr<const Readout>> refresh();

  // Another answer from the same state: a readout of everything learned, of any kind, at the lambda
  // that the current one has. Nothing that can be seen changes. Kinds lda and balanced give no
  // judgement of what is unknown. not_found: no task has ended yet, so there is no lambda.
  Result<Readout> readout_of(ReadoutKind kind);

  // Editing (learner_edit.cpp). Each gives what a learner would hold that never knew otherwise: the
  // same digest, in the exact arithmetic; a class without samples disappears. The readout stays as it
  // was: solve() and adopt() belong behind it. invalid_argument, and nothing has changed: these are
  // no samples of this learner. not_supported: a sum may have rounded, so that nothing exact can be
  // taken back.
  Status unlearn(const LearnedSamples& samples);
  Status relabel(const LearnedSamples& samples, const std::string& label);
  // All samples of a class; if there is a class `to`, the two become one.
  Status rename(const std::string& from, const std::string& to);
  // The samples that can be told apart: all, but for those that came as sums alone; none where features
  // are not kept.
  LearnedSamples kept_samples() const;
  std::span<const std::int64_t> kept_ids() const;  // theirs alone, ascending, until the next change
  // Samples up to this one may be in the sums alone; 0: kept_samples() are all.
  std::int64_t sums_only() const;
  // All that another learner of the same units knows (checked by the caller); its ids follow ours, those
  // of samples without a row first. Sums never come apart: with a dense one this becomes dense.
  Status absorb(const Learner& other);
  // `readout` becomes the current one and the task stays open; null: there is none.
  Status adopt(std::shared_ptr<const Readout> readout);

  // The readout of the last end_task or refresh; null before the first. Safe to hold while learning goes on.
  std::shared_ptr<const Readout> readout() const;
  // Scores (B, K) of the readout's classes. Refuses NaN, Inf, a wrong width. `readout` from
  // readout().
  Status score(MatrixView<const float> features, const Readout& readout, MatrixView<float> scores);
  // The same with the leverage (B) of each row, which judge() wants (engine/judgement.h).
  Status score(MatrixView<const float> features, const Readout& readout, MatrixView<float> scores,
               std::span<float> leverages);
  // The best class of each row, how probable it is, and whether it is any. false_alarms: how often
  // something known may be called unknown.
  Status classify(MatrixView<const float> features, std::span<Prediction> predictions,
                  double false_alarms = kUsualFalseAlarms);

  // Whether enough was taught, from the samples kept, in either form. not_supported: none are kept.
  // not_found: no task has ended yet, so there is no lambda to judge with.
  Result<Teaching> teaching() const;

  // Statistics, for tests, merging and inspection.
  float gram(int row, int col) const;
  float class_sum(int class_index, int unit) const;
  // False: a state of an earlier version in the dense form, which had no class sums of features; its
  // readouts have no means of classes.
  bool has_feature_sums() const;
  double feature_sum(int class_index, int feature) const;
  // A digest of config, classes, counts, G, C and F: equal digests mean equal statistics to the bit,
  // whatever the order in which classes and samples came.
  std::string digest() const;
  // exact: from which total sample count on a sum could exceed 2^24 and round, given what was seen.
  // floating: 0, sums round from the start.
  std::int64_t exact_until() const;
  // exact: empty, or that a sum has reached 2^24 and may have rounded since. Learning goes on then, and
  // every report says so. floating: empty.
  std::string rounding_note() const;

  // State as sections of a snapshot file (engine/README.md lists them), and back.
  Status save(SnapshotWriter& writer) const;
  static Result<Learner> load(const SnapshotReader& reader,
                              const Kernels& kernels = chosen_kernels());

 private:
  struct Impl;
  explicit Learner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
