// What can be undone after a merge, and what can be merged after an undo.
#include <optional>

#include "engine/state_file.h"
#include "engine/store_merge.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/random_state.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/state_views.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::EditModel;
using test::live;
using test::says;
using test::small_batch;
using test::small_config;
using test::TempDirectory;
using test::view;

}  // namespace

TEST_CASE("merging sums alone ends undo of what was learned before, and says so",
          "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  test::UnsyncedFiles files;
  const std::string file = directory / "sums.engram", more = directory / "more.engram";
  LearnerConfig config = small_config();
  Store ours = Store::create(directory / "ours", config, files).value();
  {
    config.keep_features = false;
    for (const std::string& name : {file, more}) {
      Store sums = Store::create(name + ".state", config, files).value();
      REQUIRE(sums.learn({.labels = {"sums"}, .rows = std::vector(6, std::byte{7})}).ok());
      REQUIRE(export_state(sums, name, "camera", files).ok());
    }
  }
  const auto says_so = [](const EditReport& report) {
    return report.note.find("before this merge can no longer be undone; relabel and forget") !=
           std::string::npos;
  };
  REQUIRE(ours.learn(small_batch(0)).ok());
  REQUIRE(ours.steps()->size() == 1);
  CHECK(says_so(merge_state_file(ours, file, "").value()));
  CHECK(ours.steps()->empty());
  CHECK_FALSE(ours.undo().ok());
  CHECK_FALSE(says_so(merge_state_file(ours, more, "").value()));  // there is none any more
  // As it says, of our own; of the others not.
  REQUIRE(ours.relabel({1}, "green").ok());
  REQUIRE(ours.forget("green").ok());
  REQUIRE(ours.forget("blue").ok());
  CHECK_FALSE(ours.forget("sums").ok());
  REQUIRE(ours.learn(small_batch(1)).ok());
  REQUIRE(ours.undo().ok());
  CHECK(ours.learner().samples() == 2);
}

TEST_CASE("a merge is one step: taken back whole, and made again", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  test::UnsyncedFiles files;
  const std::string state = directory / "ours", file = directory / "theirs.engram";
  int merges = 0, dense = 0, edited = 0;
  for (int number = 0; number < 200; number += test::every()) {
    INFO("histories " << number);
    EditModel ours(small_config(), unsigned(2 * number)),
        theirs(small_config(), unsigned(2 * number + 1));
    {
      Store other = live(directory / "theirs", small_config(), unsigned(number + 1), theirs, files);
      REQUIRE(export_state(other, file, "camera", files).ok());
    }
    std::optional<Store> store(live(state, small_config(), unsigned(number), ours, files));
    if (theirs.samples.empty()) continue;
    const auto reopen = [&] {
      store.reset();
      REQUIRE(verify_store(state)->findings.empty());
      store.emplace(Store::open(state, files).value());
    };
    const auto before = view(*store);
    const std::vector<std::uint64_t> origins = store->history().origins;
    std::string merged;
    for (const bool again : {false, true}) {
      REQUIRE(merge_state_file(*store, file, "house").ok());
      if (again) REQUIRE(store->learner().digest() == merged);
      merged = store->learner().digest();
      REQUIRE(store->steps()->size() == before.steps.size() + 1);
      REQUIRE(store->steps()->back().is_merge);
      REQUIRE(says(merge_state_file(*store, file, "").status(), "count twice"));
      ++merges;
      // What was done to its samples, and learned behind them, goes with it.
      int steps = 1;
      if (theirs.draw(2) == 0) {
        REQUIRE(store->learn(small_batch(number)).ok());
        REQUIRE(store->relabel({store->learner().last_id() - 2}, "another").ok());
        ++steps;
        ++edited;
      }
      if (theirs.draw(2) == 0) REQUIRE(store->compact().ok());
      if (theirs.draw(2) == 0) reopen();
      dense += store->learner().form() == Form::dense ? 1 : 0;
      const EditReport report = store->undo(steps).value();
      REQUIRE(report.steps.back().is_merge);
      REQUIRE(report.steps.back().samples == std::int64_t(theirs.samples.size()));
      if (theirs.draw(2) == 0) reopen();
      const auto after = view(*store);
      REQUIRE(after.digest == before.digest);
      REQUIRE(after.ids == before.ids);
      REQUIRE(after.rows == before.rows);
      REQUIRE(after.labels == before.labels);
      REQUIRE(after.steps == before.steps);
      REQUIRE(store->history().origins == origins);
      REQUIRE(store->history().merged.empty());
      REQUIRE(store->history().audit.back().what == "unmerged");
      REQUIRE(store->history().audit.back().device == "house");
    }
  }
  CHECK(merges > 200 / test::every());
  CHECK(dense > 50 / test::every());
  CHECK(edited > 50 / test::every());
}

TEST_CASE("as long as a sample of a merge is left, it is not repeated", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  test::UnsyncedFiles files;
  const std::string file = directory / "other.engram";
  Store ours = Store::create(directory / "ours", small_config(), files).value();
  {
    Store other = Store::create(directory / "other", small_config(), files).value();
    REQUIRE(other.learn(small_batch(1)).ok());
    REQUIRE(export_state(other, file, "", files).ok());
  }
  REQUIRE(merge_state_file(ours, file, "").ok());
  REQUIRE(ours.forget("red").ok());
  CHECK(says(merge_state_file(ours, file, "").status(), "A merge that was undone can be repeated"));
  REQUIRE(ours.forget("blue").ok());
  REQUIRE(merge_state_file(ours, file, "").ok());
  CHECK(ours.learner().samples() == 2);
}

}  // namespace engram
