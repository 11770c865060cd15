// Engram in one object: show it a picture with a name, and it knows it. Everything is on disk when
// a call returns.
//
//     auto engram = Recogniser::open({.state = "desk"});
//     engram->learn(read_image("mug.jpg").value(), "mug");
//     engram->end_task();
//     auto answers = engram->classify(read_image("what.jpg").value(), 3);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/answer.h"
#include "engine/feature_extractor.h"
#include "engine/scorer.h"
#include "engine/state_backbone.h"
#include "engine/store.h"
#include "platform/image.h"
#include "platform/status.h"

namespace engram {

class Recogniser {
 public:
  enum class Access { read, write };
  struct Options {
    std::string state;                    // directory of the learner
    std::string home = default_home();    // where models are
    std::string model;                    // empty: the state's own, or efficientnet-lite0
    Access access = Access::write;        // write: makes the state if there is none
    int threads = 0;                      // of the backbone; 0: one per core
    int batch = 16;                       // pictures per inference; 1 for latency
    EngineUse engines = EngineUse::kept;  // of a GPU; a program that runs for long may build them
    // When reading: answers of another kind than the state's own, from everything learned.
    std::optional<ReadoutKind> readout{};
    // For a new state; its fields backbone, features, feature_scale, hidden_mul come from the card.
    LearnerConfig config;
  };
  // A state made with another backbone is refused: its features mean nothing here. If the device that
  // computes is lost in the middle of a call, the CPU repeats it, with what the disk has where the
  // state is open for writing; backend_in_use().why_cpu says so then (kernels/backend.h).
  static Result<Recogniser> open(const Options& options);

  // A call is one step for undo(), unless it continues the one before.
  Status learn(std::span<const Image> pictures, std::span<const std::string> labels,
               StepPart part = StepPart::begins);
  Status learn(const Image& picture, const std::string& label);
  // Takes back the last steps, as if they had never been; durable when it returns.
  Result<EditReport> undo(int steps = 1);
  Result<ReadoutReport> end_task(const Store::MayEnd& may_end = {});

  // The best `top` labels of each picture, best first. When writing, from everything learned, also
  // in a task that has not ended (Learner::refresh); a reader sees the last end of a task.
  // false_alarms: how often something known may be called unknown.
  Result<std::vector<std::vector<Answer>>> classify(std::span<const Image> pictures, int top,
                                                    double false_alarms = kUsualFalseAlarms);
  Result<std::vector<Answer>> classify(const Image& picture, int top,
                                       double false_alarms = kUsualFalseAlarms);

  FeatureExtractor& extractor() { return extractor_; }
  Store* store() { return store_ ? &*store_ : nullptr; }  // null when opened for reading
  const LearnerConfig& config() const { return config_; }
  std::vector<std::string> classes() const;        // of the readout: what classify can answer
  std::shared_ptr<const Readout> readout() const;  // null: no task has ended

 private:
  Recogniser(FeatureExtractor extractor, LearnerConfig config)
      : extractor_(std::move(extractor)), config_(std::move(config)) {}
  Status score(MatrixView<const float> features, const Readout& readout, MatrixView<float> scores,
               std::span<float> leverages);
  static Result<Recogniser> open_once(const Options& options);
  // ok: the device was lost, and the CPU can repeat what failed for `reason`. Else why not.
  Status recover(const Status& reason);
  template <class Call>
  auto repeated_if_lost(const Call& call) -> decltype(call());
  Status learn_once(std::span<const Image> pictures, std::span<const std::string> labels,
                    StepPart part);
  Result<std::vector<std::vector<Answer>>> classify_once(std::span<const Image> pictures, int top,
                                                         double false_alarms);

  FeatureExtractor extractor_;
  LearnerConfig config_;
  std::optional<Store> store_;              // when writing
  std::optional<Scorer> scorer_;            // when reading: projection and score, no statistics
  std::shared_ptr<const Readout> reading_;  // when reading
  SharedVector<float> features_;            // of one call's pictures
  SharedVector<float> scores_;              // and what is said of them: (B, K), then leverages (B)
};

}  // namespace engram
