// Editing: after any history, of which there are hundreds, the statistics are, to the bit, those of a
// learner that saw only what remains.
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/edit_model.h"
#include "tests/support/fault_files.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::by_name;
using test::EditModel;
using test::ModelSample;
using test::small_config;
using test::TempDirectory;

constexpr int kHistories = 200;  // of each kind

LearnerConfig config_of(int number) {
  LearnerConfig config = small_config();
  config.keep_features = number % 2 == 0;
  if (number % 3 == 1) config.lambda_rule = LambdaRule::paper;
  return config;
}

class Story {
 public:
  // It begins with so many samples.
  Story(const std::string& directory, const LearnerConfig& config, int number, unsigned first)
      : directory_(directory), model(config, unsigned(number)) {
    std::filesystem::remove_all(directory);
    store.emplace(Store::create(directory, config, files_).value());
    if (first > 0) learn(model.batch(first));
  }

  // What happens between edits.
  void live() {
    for (unsigned events = model.draw(7) + 1; events > 0; --events) {
      switch (model.draw(8)) {
        case 0:
          if (store->learner().samples() > 0) REQUIRE(store->end_task().ok());
          break;
        case 1:
          REQUIRE(store->compact().ok());
          model.snapshot();
          break;
        case 2:
          store.reset();
          store.emplace(Store::open(directory_, files_).value());
          learning_ = false;
          break;
        default:
          learn(model.batch());
      }
    }
  }
  void edited() { learning_ = false; }
  void snapshot() { model.snapshot(); }

  void compare() {
    const Learner fresh = model.fresh();
    const Learner& learner = store->learner();
    REQUIRE(learner.samples() == fresh.samples());
    REQUIRE(by_name(learner.classes()) == by_name(fresh.classes()));
    REQUIRE(learner.digest() == fresh.digest());
    REQUIRE(learner.exact_until() == fresh.exact_until());
    const auto readout = learner.readout();
    if (!readout) return;
    // No readout answers with a class that is gone.
    for (const std::string& label : readout->classes) {
      const auto classes = learner.classes();
      REQUIRE(std::any_of(classes.begin(), classes.end(),
                          [&](const ClassInfo& info) { return info.label == label; }));
    }
  }
  // As compare, after opening again; and every byte is as it should be.
  void compare_all() {
    compare();
    store.reset();
    REQUIRE(verify_store(directory_)->findings.empty());
    store.emplace(Store::open(directory_, files_).value());
    REQUIRE(store->recovery_note().empty());
    learning_ = false;
    compare();
  }

 private:
  void learn(const SampleBatch& batch) {
    const StepPart part = model.draw(3) == 0 ? StepPart::continues : StepPart::begins;
    REQUIRE(store->learn(batch, part).ok());
    model.learned(batch, learning_ ? part : StepPart::begins);
    learning_ = true;
  }

  std::string directory_;
  test::UnsyncedFiles files_;
  bool learning_ = false;

 public:
  EditModel model;
  std::optional<Store> store;
};

// The samples of the last `count` steps, by the model; fewer steps: nothing.
std::optional<std::vector<ModelSample>> last_steps(const EditModel& model, int count) {
  std::set<int> steps;
  for (const ModelSample& sample : model.samples) steps.insert(sample.step);
  if (std::size_t(count) > steps.size()) return std::nullopt;
  const int from = *std::next(steps.rbegin(), count - 1);
  std::vector<ModelSample> found;
  for (const ModelSample& sample : model.samples) {
    if (sample.step >= from) found.push_back(sample);
  }
  return found;
}

bool all_at_hand(const EditModel& model, const std::vector<ModelSample>& samples) {
  return std::all_of(samples.begin(), samples.end(),
                     [&](const ModelSample& sample) { return model.at_hand(sample); });
}

void remove(EditModel& model, const std::vector<ModelSample>& gone) {
  std::erase_if(model.samples, [&](const ModelSample& sample) {
    return std::any_of(gone.begin(), gone.end(),
                       [&](const ModelSample& other) { return other.id == sample.id; });
  });
}

int refused = 0, done = 0;

void try_undo(Story& story) {
  const int count = int(story.model.draw(3)) + 1;
  const auto expected = last_steps(story.model, count);
  const Result<EditReport> report = story.store->undo(count);
  if (!expected || !all_at_hand(story.model, *expected)) {
    REQUIRE_FALSE(report.ok());
    ++refused;
    return;
  }
  REQUIRE(report.ok());
  ++done;
  REQUIRE(report->steps.size() == std::size_t(count));
  REQUIRE(report->samples == std::int64_t(expected->size()));
  remove(story.model, *expected);
  story.edited();
}

void try_forget(Story& story) {
  const std::string label = story.model.label();
  std::vector<ModelSample> expected;
  for (const ModelSample& sample : story.model.samples) {
    if (sample.label == label) expected.push_back(sample);
  }
  const Result<EditReport> report = story.store->forget(label);
  if (expected.empty() || !all_at_hand(story.model, expected)) {
    REQUIRE(report.status().code() == (expected.empty() ? Code::not_found : Code::not_supported));
    ++refused;
    return;
  }
  REQUIRE(report.ok());
  ++done;
  REQUIRE(report->gone == std::vector<std::string>{label});
  remove(story.model, expected);
  story.edited();
  story.snapshot();
}

void try_relabel(Story& story) {
  EditModel& model = story.model;
  const std::string label = model.label();
  if (model.draw(3) == 0) {  // all of a class
    const std::string from = model.label();
    const bool known = std::any_of(model.samples.begin(), model.samples.end(),
                                   [&](const ModelSample& sample) { return sample.label == from; });
    const Result<EditReport> report = story.store->rename(from, label);
    REQUIRE(report.ok() == (known && from != label));
    if (!report.ok()) return;
    ++done;
    for (ModelSample& sample : model.samples) {
      if (sample.label == from) sample.label = label;
    }
    return story.edited();
  }
  std::vector<std::int64_t> ids;
  std::vector<ModelSample> expected;
  for (const ModelSample& sample : model.samples) {
    if (model.draw(4) != 0) continue;
    ids.push_back(sample.id);
    expected.push_back(sample);
  }
  const bool changes = std::any_of(expected.begin(), expected.end(),
                                   [&](const ModelSample& s) { return s.label != label; });
  const Result<EditReport> report = story.store->relabel(ids, label);
  if (!changes || !all_at_hand(model, expected)) {
    REQUIRE_FALSE(report.ok());
    ++refused;
    return;
  }
  REQUIRE(report.ok());
  ++done;
  for (ModelSample& sample : model.samples) {
    if (std::find(ids.begin(), ids.end(), sample.id) != ids.end()) sample.label = label;
  }
  story.edited();
}

void run_stories(const std::function<void(Story&)>& edit) {
  const TempDirectory directory(TempDirectory::Where::memory);
  refused = done = 0;
  for (int number = 0; number < kHistories; number += test::every()) {
    INFO("history " << number);
    Story story(directory / "state", config_of(number), number, 0);
    for (int round = 0; round < 4; ++round) {
      story.live();
      edit(story);
      story.compare();
    }
    story.compare_all();
  }
  CHECK(done > kHistories / test::every());
  CHECK(refused > kHistories / 10 / test::every());
}

void try_any(Story& story) {
  switch (story.model.draw(3)) {
    case 0:
      return try_undo(story);
    case 1:
      return try_forget(story);
    default:
      return try_relabel(story);
  }
}

}  // namespace

TEST_CASE("undo leaves what a learner holds that never saw it", "[engine][store][edit]") {
  run_stories(try_undo);
}

TEST_CASE("forget leaves what a learner holds that never saw the class", "[engine][store][edit]") {
  run_stories(try_forget);
}

TEST_CASE("relabel leaves what a learner holds that heard the right name",
          "[engine][store][edit]") {
  run_stories(try_relabel);
}

TEST_CASE("all edits mixed", "[engine][store][edit]") {
  run_stories(try_any);
}

TEST_CASE("edits are exact on both sides of the move to sums, and back below it",
          "[engine][store][edit]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const int limit = factored_limit(small_config());
  int crossed = 0, below = 0;
  refused = done = 0;
  for (int number = 0; number < kHistories; number += test::every()) {
    INFO("history " << number);
    LearnerConfig config = small_config();
    if (number % 3 == 1) config.lambda_rule = LambdaRule::paper;
    Story story(directory / "state", config, number, unsigned(limit - 12 + number % 20));
    bool factored = false;
    for (int round = 0; round < 4; ++round) {
      factored = factored || story.store->learner().form() == Form::factored;
      story.live();
      try_any(story);
      story.compare();
      // Whatever the form, every sample is still there by its number.
      const LearnedSamples kept = story.store->learner().kept_samples();
      REQUIRE(kept.size() == story.model.samples.size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        REQUIRE(kept.ids[i] == story.model.samples[i].id);
        REQUIRE(kept.batch.labels[i] == story.model.samples[i].label);
      }
    }
    story.compare_all();
    const Learner& learner = story.store->learner();
    if (learner.form() == Form::factored) continue;
    crossed += factored ? 1 : 0;
    below += learner.samples() <= limit ? 1 : 0;
    // Back to the beginning, step by step.
    const auto steps = story.store->steps().value();
    if (steps.empty()) continue;
    REQUIRE(steps.front().first_id == story.model.samples.front().id);
    REQUIRE(story.store->undo(int(steps.size())).ok());
    story.model.samples.clear();
    story.compare();
  }
  CHECK(crossed > kHistories / 4 / test::every());
  CHECK(below > kHistories / 10 / test::every());
}

}  // namespace engram
