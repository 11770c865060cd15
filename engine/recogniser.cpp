#include "engine/recogniser.h"

#include <utility>

#include <fmt/format.h>

#include "kernels/backend.h"
#include "platform/second_try.h"

namespace engram {
namespace {

constexpr const char* kDefaultModel = "efficientnet-lite0";

// The model the user names, else the one the state was made with, else the default.
Result<StoredModel> choose_model(const Recogniser::Options& options,
                                 const LearnerConfig* state_config) {
  const ModelStore models(options.home);
  if (state_config) return find_backbone(models, *state_config, options.model, options.state);
  return models.find(options.model.empty() ? kDefaultModel : options.model);
}

constexpr char kNoMemory[] =
    "Not enough memory for this. What was acknowledged before is kept; close other programs.";

}  // namespace

Result<Recogniser> Recogniser::open(const Options& options) {
  return second_try([&] { return open_once(options); }, kNoMemory, LostSince());
}

Result<Recogniser> Recogniser::open_once(const Options& options) {
  if (options.home.empty()) {
    return Status(Code::invalid_argument,
                  "nobody says where models are kept: HOME is not set, nor is ENGRAM_HOME");
  }
  const FeatureExtractor::Options extraction{.threads = options.threads,
                                             .batch = options.batch,
                                             .engines = options.engines,
                                             .home = options.home};

  if (options.access == Access::read) {
    ENGRAM_ASSIGN(StoredReadout stored, options.readout
                                            ? read_readout(options.state, *options.readout)
                                            : read_readout(options.state));
    ENGRAM_ASSIGN(const StoredModel model, choose_model(options, &stored.config));
    ENGRAM_ASSIGN(FeatureExtractor extractor, FeatureExtractor::open(model, extraction));
    ENGRAM_ASSIGN(Scorer scorer, Scorer::create(stored.config));
    Recogniser recogniser(std::move(extractor), std::move(stored.config));
    recogniser.scorer_.emplace(std::move(scorer));
    recogniser.reading_ = std::make_shared<const Readout>(std::move(stored.readout));
    return recogniser;
  }

  if (Store::exists(options.state)) {
    ENGRAM_ASSIGN(Store store, Store::open(options.state));
    const LearnerConfig config = store.learner().config();
    ENGRAM_ASSIGN(const StoredModel model, choose_model(options, &config));
    ENGRAM_ASSIGN(FeatureExtractor extractor, FeatureExtractor::open(model, extraction));
    Recogniser recogniser(std::move(extractor), config);
    recogniser.store_.emplace(std::move(store));
    return recogniser;
  }

  ENGRAM_ASSIGN(const StoredModel model, choose_model(options, nullptr));
  ENGRAM_ASSIGN(FeatureExtractor extractor, FeatureExtractor::open(model, extraction));
  const LearnerConfig config = config_for(model.card, options.config);
  ENGRAM_ASSIGN(Store store, Store::create(options.state, config));
  Recogniser recogniser(std::move(extractor), config);
  recogniser.store_.emplace(std::move(store));
  return recogniser;
}

Status Recogniser::recover(const Status& reason) {
  const bool lost = !give_up_lost_device(reason).ok();
  const bool lie_elsewhere = features_.get_allocator() != SharedVector<float>::allocator_type();
  features_ = SharedVector<float>();  // the next ones are where the next device wants them
  scores_ = SharedVector<float>();
  if (store_) return store_->recover(reason);
  // A reader's parts go on by themselves; what may have failed is memory for what they give.
  return lost && lie_elsewhere ? Status() : reason;
}

template <class Call>
auto Recogniser::repeated_if_lost(const Call& call) -> decltype(call()) {
  return second_try(call, kNoMemory, [&](const Status& why) { return recover(why).ok(); });
}

Status Recogniser::learn(std::span<const Image> pictures, std::span<const std::string> labels,
                         StepPart part) {
  return repeated_if_lost([&] { return learn_once(pictures, labels, part); });
}

Status Recogniser::learn_once(std::span<const Image> pictures, std::span<const std::string> labels,
                              StepPart part) {
  if (!store_) return Status(Code::invalid_argument, "the state was opened for reading only");
  if (pictures.size() != labels.size()) {
    return Status(Code::invalid_argument,
                  fmt::format("{} pictures came with {} labels; nothing was "
                              "learned",
                              pictures.size(), labels.size()));
  }
  const int count = static_cast<int>(pictures.size());
  features_.resize(pictures.size() * extractor_.features());
  const MatrixView<float> features{features_.data(), count, extractor_.features(),
                                   extractor_.features()};
  ENGRAM_TRY(extractor_.extract(pictures, features));
  ENGRAM_ASSIGN(const SampleBatch batch, store_->learner().encode(features, labels));
  return store_->learn(batch, part);
}

Status Recogniser::learn(const Image& picture, const std::string& label) {
  return learn(std::span(&picture, 1), std::span(&label, 1));
}

Result<EditReport> Recogniser::undo(int steps) {
  if (!store_) return Status(Code::invalid_argument, "the state was opened for reading only");
  return repeated_if_lost([&] { return store_->undo(steps); });
}

Result<ReadoutReport> Recogniser::end_task(const Store::MayEnd& may_end) {
  if (!store_) return Status(Code::invalid_argument, "the state was opened for reading only");
  return repeated_if_lost([&] { return store_->end_task(may_end); });
}

std::shared_ptr<const Readout> Recogniser::readout() const {
  return store_ ? store_->learner().readout() : reading_;
}

std::vector<std::string> Recogniser::classes() const {
  const auto current = readout();
  return current ? current->classes : std::vector<std::string>();
}

Status Recogniser::score(MatrixView<const float> features, const Readout& readout,
                         MatrixView<float> scores, std::span<float> leverages) {
  return store_ ? store_->learner().score(features, readout, scores, leverages)
                : scorer_->score(features, readout, scores, leverages);
}

Result<std::vector<std::vector<Answer>>> Recogniser::classify(std::span<const Image> pictures,
                                                              int top, double false_alarms) {
  return repeated_if_lost([&] { return classify_once(pictures, top, false_alarms); });
}

Result<std::vector<std::vector<Answer>>> Recogniser::classify_once(std::span<const Image> pictures,
                                                                   int top, double false_alarms) {
  // What was learned since the last end of a task counts at once; where that fails, for want of
  // memory, the readout before it answers.
  if (store_) (void)store_->learner().refresh();
  const auto current = readout();
  if (!current) {
    return Status(Code::not_found,
                  "nothing can be recognised yet: no task has ended. Learn something first.");
  }
  const int count = static_cast<int>(pictures.size());
  const int width = extractor_.features();
  const int classes = static_cast<int>(current->classes.size());
  features_.resize(std::size_t(count) * width);
  const MatrixView<float> features{features_.data(), count, width, width};
  ENGRAM_TRY(extractor_.extract(pictures, features));
  scores_.resize(std::size_t(count) * (std::size_t(classes) + 1));
  const MatrixView<float> scores{scores_.data(), count, classes, classes};
  const std::span<float> leverages(scores.row(count), std::size_t(count));
  ENGRAM_TRY(score(features, *current, scores, leverages));

  std::vector<std::vector<Answer>> answers;
  for (int row = 0; row < count; ++row) {
    answers.push_back(best_answers(*current, {scores.row(row), std::size_t(classes)},
                                   leverages[std::size_t(row)], top, false_alarms));
  }
  return answers;
}

Result<std::vector<Answer>> Recogniser::classify(const Image& picture, int top,
                                                 double false_alarms) {
  ENGRAM_ASSIGN(std::vector<std::vector<Answer>> answers,
                classify(std::span(&picture, 1), top, false_alarms));
  return std::move(answers.front());
}

}  // namespace engram
