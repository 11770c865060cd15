// Merging: the new state is, to the bit, the learner that saw the samples of all.
#include "engine/store_merge.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

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
using test::FaultFiles;
using test::PowerCutFiles;
using test::says;
using test::small_batch;
using test::small_config;
using test::TempDirectory;

// A store with a random past in `directory`; its samples are added to `all`.
void live(const std::string& directory, const LearnerConfig& config, unsigned seed,
          EditModel& all) {
  test::UnsyncedFiles files;
  EditModel own(config, seed);
  Store store = Store::create(directory, config, files).value();
  if (seed % 3 == 0) {
    const SampleBatch batch = own.batch(40 + own.draw(20));
    REQUIRE(store.learn(batch).ok());
    all.learned(batch, StepPart::begins);
  }
  for (unsigned events = own.draw(10) + 1; events > 0; --events) {
    switch (own.draw(6)) {
      case 0:
        if (store.learner().samples() > 0) REQUIRE(store.end_task().ok());
        break;
      case 1:
        REQUIRE(store.compact().ok());
        break;
      default: {
        const SampleBatch batch = own.batch();
        REQUIRE(store.learn(batch).ok());
        all.learned(batch, StepPart::begins);
      }
    }
  }
}

void make_two(const std::string& a, const std::string& b, const LearnerConfig& config) {
  Store one = Store::create(a, config).value();
  REQUIRE(one.learn(small_batch(0)).ok());
  REQUIRE(one.end_task().ok());
  Store other = Store::create(b, config).value();
  REQUIRE(other.learn(small_batch(1)).ok());
  REQUIRE(other.learn(small_batch(2)).ok());
}

// What remains when these steps, the newest ones, are taken back.
EditModel without_last(EditModel model, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    model.samples.erase(model.samples.end() - std::ptrdiff_t(step.samples), model.samples.end());
  }
  return model;
}

}  // namespace

TEST_CASE("merged states are one learner that saw all", "[engine][store][merge]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  int factored = 0, dense = 0, partly = 0;
  for (int number = 0; number < 200; number += test::every()) {
    INFO("history " << number);
    LearnerConfig config = small_config();
    EditModel all(config, 0);
    std::vector<std::string> inputs;
    std::size_t kept = 0;
    for (int part = 0; part < 2 + number % 2; ++part) {
      config.keep_features = (number >> part) % 4 != 0;
      kept += config.keep_features ? 1 : 0;
      inputs.push_back(directory / ("part " + std::to_string(part)));
      std::filesystem::remove_all(inputs.back());
      live(inputs.back(), config, unsigned(number * 10 + part), all);
    }
    const std::string output = directory / "merged";
    std::filesystem::remove_all(output);
    test::UnsyncedFiles files;
    const Result<MergeReport> report = merge_stores(inputs, output, files);
    if (all.samples.empty()) {
      REQUIRE(says(report.status(), "Nothing was learned"));
      continue;
    }
    REQUIRE(report.ok());
    const Learner fresh = all.fresh();
    REQUIRE(report->digest == fresh.digest());
    REQUIRE(by_name(report->classes) == by_name(fresh.classes()));
    REQUIRE(verify_store(output)->findings.empty());
    Store merged = Store::open(output, files).value();
    REQUIRE(merged.recovery_note().empty());
    REQUIRE(merged.learner().digest() == fresh.digest());
    REQUIRE(merged.learner().samples() == std::int64_t(all.samples.size()));
    REQUIRE(merged.learner().exact_until() == fresh.exact_until());
    REQUIRE(read_readout(output)->readout.samples == fresh.samples());
    // It goes on as any other.
    REQUIRE(merged.learn(small_batch(number)).ok());
    REQUIRE(merged.undo().ok());
    REQUIRE(merged.learner().digest() == fresh.digest());
    if (kept == inputs.size()) {
      dense += merged.learner().form() == Form::dense ? 1 : 0;
      factored += merged.learner().form() == Form::factored ? 1 : 0;
      REQUIRE(merged.learner().sums_only() == 0);
      const auto steps = merged.steps().value();
      REQUIRE(steps.back().last_id == merged.learner().last_id() - 2);
      REQUIRE(merged.undo(int(steps.size())).ok());
      REQUIRE(merged.learner().samples() == 0);
    } else if (merged.learner().config().keep_features) {
      // What came with its rows can be told apart; what is in sums alone is refused.
      ++partly;
      const auto steps = merged.steps().value();
      REQUIRE_FALSE(merged.undo(int(steps.size()) + 1).ok());
      if (!steps.empty()) REQUIRE(merged.undo(int(steps.size())).ok());
      REQUIRE(merged.learner().digest() == without_last(all, steps).fresh().digest());
    }
  }
  CHECK(factored > 10 / test::every());
  CHECK(dense > 20 / test::every());
  CHECK(partly > 10 / test::every());
}

TEST_CASE("states that do not add up are refused by name", "[engine][store][merge]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string a = directory / "a", b = directory / "b", c = directory / "c";
  const auto refused = [&](auto change, const char* why) {
    std::filesystem::remove_all(a);
    std::filesystem::remove_all(b);
    LearnerConfig config = small_config();
    { REQUIRE(Store::create(a, config)->learn(small_batch(0)).ok()); }
    change(config);
    { REQUIRE(Store::create(b, config).ok()); }
    const std::vector<std::string> both{a, b};
    const Status status = merge_stores(both, c).status();
    REQUIRE(status.code() == Code::invalid_argument);
    REQUIRE(says(status, why));
    REQUIRE_FALSE(Store::exists(c));
  };
  refused([](LearnerConfig& config) { config.backbone = std::string(64, 'b'); }, "backbone aaaa");
  refused([](LearnerConfig& config) { config.backbone.back() = 'b'; }, "aaab");
  refused([](LearnerConfig& config) { config.features = 7; }, "features 6 and 7");
  refused([](LearnerConfig& config) { config.hidden = 200; }, "hidden units 100 and 200");
  refused([](LearnerConfig& config) { config.seed = 9; }, "seed 1 and 9");
  refused([](LearnerConfig& config) { config.feature_scale = 2; }, "feature scale 1 and 2");
  refused([](LearnerConfig& config) { config.hidden_mul = 1; }, "hidden gain 4096 and 1");
  refused([](LearnerConfig& config) { config.hidden_max = 15; }, "largest hidden unit 31 and 15");
  refused([](LearnerConfig& config) { config.arithmetic = Arithmetic::floating; }, "arithmetic");
}

TEST_CASE("no sample counts twice", "[engine][store][merge]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string a = directory / "a", b = directory / "b", c = directory / "c";
  make_two(a, b, small_config());
  std::filesystem::copy(a, directory / "copy");
  const auto twice = [&](std::vector<std::string> inputs) {
    const Status status = merge_stores(inputs, directory / "new").status();
    return status.code() == Code::invalid_argument && says(status, "count twice");
  };
  CHECK(twice({a, a}));
  CHECK(twice({a, directory / "copy"}));
  REQUIRE(merge_stores(std::vector{a, b}, c).ok());
  CHECK(twice({c, a}));
  CHECK(twice({b, c}));
  { REQUIRE(Store::open(c)->compact().ok()); }  // it is not forgotten
  CHECK(twice({a, c}));
  CHECK(says(merge_stores(std::vector{a}, directory / "new").status(), "at least two"));
  CHECK(merge_stores(std::vector{a, directory / "none"}, directory / "new").status().code() ==
        Code::not_found);
  CHECK(says(merge_stores(std::vector{a, b}, c).status(), "holds a state already"));
}

TEST_CASE("a failing call or a power cut leaves a merged state whole or absent",
          "[engine][store][merge][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::vector<std::string> inputs{directory / "a", directory / "b"};
  make_two(inputs[0], inputs[1], small_config());
  const std::string output = directory / "c";
  FaultFiles counter;
  const std::string digest = merge_stores(inputs, output, counter)->digest;
  const auto check = [&] {
    if (!Store::exists(output)) {
      REQUIRE(merge_stores(inputs, output)->digest == digest);
    }
    const auto left = test::reopened(output).value();
    REQUIRE(left.digest == digest);
    REQUIRE(left.weights.size() == 200);
    REQUIRE(verify_store(output)->findings.empty());
  };
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); ++at) {
      INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
      std::filesystem::remove_all(output);
      FaultFiles files(fault, at, ENOSPC);
      const Status status = merge_stores(inputs, output, files).status();
      if (!status.ok()) {
        REQUIRE(says(status, "No state was made"));
        if (fault == FaultFiles::Fault::fail_once) REQUIRE_FALSE(Store::exists(output));
      }
      check();
    }
  }
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::latest,
                                PowerCutFiles::Contents::torn}) {
      for (int at = 0; at <= counter.calls(); ++at) {
        INFO("cut at call " << at << ", names " << int(names) << ", contents " << int(contents));
        std::filesystem::remove_all(output);
        std::filesystem::create_directory(output);
        PowerCutFiles files(output, at);
        const bool done = merge_stores(inputs, output, files).ok();
        files.leave(names, contents, std::uint64_t(at));
        if (done) REQUIRE(Store::exists(output));
        check();
      }
    }
  }
}

}  // namespace engram
