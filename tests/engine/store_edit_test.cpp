// Editing a state, case by case: what readers are told, what stays in files, what is refused. Any history at
// all: store_edit_history_test.cpp.
#include <algorithm>

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/edit_model.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::by_name;
using test::copy_store;
using test::says;
using test::small_config;
using test::TempDirectory;

// How many files of a state hold these bytes.
int files_with(const std::vector<std::byte>& row, const std::string& directory) {
  int places = 0;
  for (const char* name : {"/snapshot", "/journal", "/readout"}) {
    const auto bytes = read_file(directory + name, 1 << 20).value();
    const auto at = std::search(bytes.begin(), bytes.end(), row.begin(), row.end());
    if (at != bytes.end()) ++places;
  }
  return places;
}

}  // namespace

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
  REQUIRE(files_with(blue, directory.path()) > 0);
  REQUIRE(store.forget("blue").ok());
  REQUIRE(files_with(blue, directory.path()) == 0);
}

TEST_CASE("what was forgotten is in no file after a failing call either",
          "[engine][store][edit][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string base = directory / "base", state = directory / "state";
  const SampleBatch batch = test::small_batch(0);
  const std::vector<std::byte> blue(batch.rows.begin() + 6, batch.rows.end());
  {
    Store store = Store::create(base, small_config()).value();
    REQUIRE(store.learn(batch).ok());
    REQUIRE(store.end_task().ok());
  }
  int only_readout = 0, only_compaction = 0;
  for (int at = 0, calls = 1; at < calls; ++at) {
    CAPTURE(at);
    copy_store(base, state);
    test::FaultFiles files;
    {
      Store store = Store::open(state, files).value();
      files = test::FaultFiles(test::FaultFiles::Fault::fail_once, at);
      const Result<EditReport> report = store.forget("blue");
      calls = files.struck() ? at + 2 : at;
      if (store.learner().classes().size() == 2) continue;  // nothing has changed
      if (!report.ok()) {
        ++only_readout;
        REQUIRE(files_with(blue, state) == 0);
      } else if (files_with(blue, state) > 0) {
        ++only_compaction;
        REQUIRE(says(report->note, "stay in the journal"));
      }
    }
    // As after kill -9 between the record and the compaction.
    REQUIRE(test::reopened(state).value().samples == 1);
    REQUIRE(files_with(blue, state) == 0);
  }
  REQUIRE(only_readout > 0);
  REQUIRE(only_compaction > 0);
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
  refused(store.rename("red", "blue "), Code::invalid_argument, "a space");
  refused(store.relabel({1}, "mu\u200bg"), Code::invalid_argument, "invisible");
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

TEST_CASE("a state with names that are no longer taken opens and can be mended",
          "[engine][store][edit]") {
  const TempDirectory directory;
  {
    Store store = Store::create(directory.path(), small_config()).value();
    SampleBatch batch = test::small_batch(0);
    batch.labels[0] = " red";
    REQUIRE(store.learn(batch).ok());  // as an earlier version wrote it
    REQUIRE(store.end_task().ok());
  }
  REQUIRE(Store::open(directory.path()).value().compact().ok());  // opened from the journal
  Store store = Store::open(directory.path()).value();            // and from the snapshot
  REQUIRE(store.rename(" red", "red").ok());
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
