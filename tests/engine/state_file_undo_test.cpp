// What can be undone after a merge, and what can be merged after an undo.
#include "engine/state_file.h"
#include "engine/store_merge.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::says;
using test::small_batch;
using test::small_config;
using test::TempDirectory;

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

TEST_CASE("a merge that was undone is not repeated, but with a copy from before it",
          "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  test::UnsyncedFiles files;
  const std::string before = directory / "before.engram", file = directory / "other.engram";
  Store ours = Store::create(directory / "ours", small_config(), files).value();
  REQUIRE(ours.learn(small_batch(0)).ok());
  REQUIRE(export_state(ours, before, "", files).ok());
  {
    Store other = Store::create(directory / "other", small_config(), files).value();
    REQUIRE(other.learn(small_batch(1)).ok());
    REQUIRE(export_state(other, file, "", files).ok());
  }
  const EditReport report = merge_state_file(ours, file, "").value();
  CHECK(report.note.find("undone") == std::string::npos);  // every sample has its row
  const std::string merged = ours.learner().digest();
  REQUIRE(ours.undo().ok());
  const Status again = merge_state_file(ours, file, "").status();
  CHECK(says(again, "If that merge was undone since, merge with a copy from before it"));
  REQUIRE(merge_stores(std::vector{before, file}, directory / "new", files).ok());
  CHECK(Store::open(directory / "new", files)->learner().digest() == merged);
}

}  // namespace engram
