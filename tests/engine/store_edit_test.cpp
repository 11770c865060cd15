// Editing: after any history the statistics are, to the bit, those of a learner that saw only what
// remains.
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/edit_model.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::by_name;
using test::EditModel;
using test::ModelSample;
using test::says;
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

TEST_CASE("an edit answers at once, for readers too", "[engine][store][edit]") {
  const TempDirectory directory;
  Store store = Store::create(directory.path(), small_config()).value();
  REQUIRE(store.learn(test::small_batch(0)).ok());
  REQUIRE(store.end_task().ok());
  REQUIRE(store.rename("red", "crimson").ok());
  REQUIRE(read_readout(directory.path())->readout.classes ==
          std::vector<std::string>{"crimson", "blue"});
  const EditReport report = store.forget("blue").value();
  REQUIRE(report.samples == 1);
  REQUIRE(report.gone == std::vector<std::string>{"blue"});
  REQUIRE(report.readout.has_value());
  REQUIRE(read_readout(directory.path())->readout.classes == std::vector<std::string>{"crimson"});
  REQUIRE(store.learner().tasks() == 1);
}

TEST_CASE("what was forgotten is in no file", "[engine][store][edit]") {
  const TempDirectory directory;
  LearnerConfig config = small_config();
  config.keep_features = GENERATE(true, false);
  const bool many = GENERATE(true, false);
  if (!config.keep_features && many) return;  // as with few
  Store store = Store::create(directory.path(), config).value();
  SampleBatch batch = test::small_batch(0);
  REQUIRE(store.learn(batch).ok());
  if (many) {
    SampleBatch others = test::large_batch();
    for (std::string& label : others.labels) label = "red";
    REQUIRE(store.learn(others).ok());
    REQUIRE(store.learner().form() == Form::dense);
    REQUIRE(store.compact().ok());
  }
  REQUIRE(store.end_task().ok());
  const std::vector<std::byte> blue(batch.rows.begin() + 6, batch.rows.end());
  const auto found = [&] {
    int places = 0;
    for (const char* name : {"/snapshot", "/journal", "/readout"}) {
      const auto bytes = read_file(directory.path() + name, 1 << 20).value();
      const auto at = std::search(bytes.begin(), bytes.end(), blue.begin(), blue.end());
      if (at != bytes.end()) ++places;
    }
    return places;
  };
  REQUIRE(found() > 0);
  REQUIRE(store.forget("blue").ok());
  REQUIRE(found() == 0);
}

TEST_CASE("undone to the beginning, a state answers nothing", "[engine][store][edit]") {
  const TempDirectory directory;
  const std::string empty = Learner::create(small_config()).value().digest();
  {
    Store store = Store::create(directory.path(), small_config()).value();
    REQUIRE(says(store.undo().status(), "no step to go back to"));
    REQUIRE(says(store.forget("mug").status(), "nothing was learned yet"));
    REQUIRE(store.learn(test::small_batch(0)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(test::small_batch(1)).ok());
    REQUIRE(says(store.undo(3).status(), "past the beginning"));
    REQUIRE(says(store.undo(0).status(), "at least 1"));
    const EditReport report = store.undo(2).value();
    REQUIRE(report.steps.size() == 2);
    REQUIRE(report.steps.front().first_id == 3);
    REQUIRE(report.steps.back().classes == std::vector<ClassInfo>{{"red", 1}, {"blue", 1}});
    REQUIRE_FALSE(report.readout.has_value());
    REQUIRE(store.learner().digest() == empty);
    REQUIRE(store.learner().readout() == nullptr);
    REQUIRE(read_readout(directory.path()).status().code() == Code::not_found);
  }
  Store store = Store::open(directory.path()).value();
  REQUIRE(store.recovery_note().empty());
  REQUIRE(store.learner().digest() == empty);
  REQUIRE(store.learner().readout() == nullptr);
  // Numbers are not given again.
  REQUIRE(store.learn(test::small_batch(2)).ok());
  REQUIRE(store.steps()->front().first_id == 5);
  REQUIRE(store.end_task().ok());
}

TEST_CASE("bad edits change nothing and say why", "[engine][store][edit]") {
  const TempDirectory directory;
  LearnerConfig config = small_config();
  config.keep_features = false;
  Store store = Store::create(directory.path(), config).value();
  REQUIRE(store.learn(test::small_batch(0)).ok());
  REQUIRE(store.end_task().ok());
  const auto before = test::content(store);
  const auto refused = [&](const Result<EditReport>& result, Code code, const char* why) {
    REQUIRE(result.status().code() == code);
    REQUIRE(says(result.status(), why));
    REQUIRE(test::content(store) == before);
  };
  refused(store.forget("rad"), Code::not_found, "Did you mean red?");
  refused(store.rename("green", "blue"), Code::not_found, "no class green");
  refused(store.rename("red", "red"), Code::invalid_argument, "already");
  refused(store.rename("red", "two\nlines"), Code::invalid_argument, "control character");
  refused(store.relabel({1}, "red"), Code::invalid_argument, "already");
  refused(store.relabel({1}, ""), Code::invalid_argument, "label");
  refused(store.relabel({1, 9}, "red"), Code::not_found, "no sample 9");
  refused(store.relabel({0}, "red"), Code::not_found, "no sample 0");
  REQUIRE(store.compact().ok());
  refused(store.undo(), Code::not_supported, "--keep-features no");
  refused(store.forget("red"), Code::not_supported, "sums alone");
  refused(store.relabel({1}, "blue"), Code::not_supported, "The sample 1");
  REQUIRE(store.learn(test::small_batch(1)).ok());
  REQUIRE(says(store.undo(2).status(), "only 1 step"));
  REQUIRE(store.undo().ok());
  REQUIRE(store.learner().digest() == before.digest);
  REQUIRE(store.rename("red", "crimson").ok());  // needs no rows
}

TEST_CASE("the newest step is named anew", "[engine][store][edit]") {
  const TempDirectory directory;
  Store store = Store::create(directory.path(), small_config()).value();
  REQUIRE(store.learn(test::small_batch(0)).ok());
  REQUIRE(store.learn(test::small_batch(1)).ok());
  REQUIRE(store.learn(test::small_batch(2), StepPart::continues).ok());
  const EditReport report = store.relabel_last(1, "green").value();
  REQUIRE(report.samples == 4);
  REQUIRE(by_name(store.learner().classes()) ==
          std::vector<ClassInfo>{{"blue", 1}, {"green", 4}, {"red", 1}});
  REQUIRE(store.steps()->back().classes == std::vector<ClassInfo>{{"green", 4}});
  REQUIRE(says(store.relabel_last(3, "x").status(), "past the beginning"));
}

TEST_CASE("nothing is taken back exactly once a sum may have rounded", "[engine][store][edit]") {
  const TempDirectory directory;
  LearnerConfig config = small_config();
  config.keep_features = false;
  config.hidden_mul = 65536;
  config.hidden_max = 255;
  Store store = Store::create(directory.path(), config).value();
  SampleBatch batch;
  batch.labels.assign(400, "red");
  batch.rows.assign(400 * 6, std::byte{100});
  REQUIRE(store.learn(batch).ok());
  REQUIRE(store.learner().samples() > store.learner().exact_until());
  const std::string before = store.learner().digest();
  const Result<EditReport> report = store.undo();
  REQUIRE(report.status().code() == Code::not_supported);
  REQUIRE(says(report.status(), "2^24"));
  REQUIRE(store.learner().digest() == before);
  REQUIRE(store.rename("red", "blue").ok());
  const Result<VerifyReport> verified = verify_store(directory.path());
  REQUIRE(verified->ok);
  REQUIRE(verified->findings.back().find("2^24") != std::string::npos);
}

}  // namespace engram
