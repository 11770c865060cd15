// Exported files: what comes out of them is, to the bit, what went in, and says where it has been.
#include "engine/state_file.h"

#include <optional>

#include "engine/store_load.h"
#include "engine/store_merge.h"
#include "tests/support/catch.h"
#include "tests/support/edit_model.h"
#include "tests/support/fault_files.h"
#include "tests/support/random_state.h"
#include "tests/support/says.h"
#include "tests/support/state_views.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::by_name;
using test::EditModel;
using test::live;
using test::says;
using test::small_batch;
using test::small_config;
using test::TempDirectory;
using test::view;

void add(EditModel& all, const EditModel& more) {
  all.samples.insert(all.samples.end(), more.samples.begin(), more.samples.end());
}

// The newest entries of a trail, as "device what samples".
std::vector<std::string> told(const std::vector<AuditEntry>& trail) {
  std::vector<std::string> lines;
  for (const AuditEntry& entry : trail) {
    lines.push_back(entry.device + " " + entry.what + " " + std::to_string(entry.samples));
  }
  return lines;
}

}  // namespace

TEST_CASE("an imported state is the exported one", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string state = directory / "state", copy = directory / "copy",
                    file = directory / "file.engram", again = directory / "again.engram";
  test::UnsyncedFiles files;
  int dense = 0, dense_steps = 0, empty = 0, with_readout = 0;
  for (int number = 0; number < 200; number += test::every()) {
    INFO("history " << number);
    LearnerConfig config = small_config();
    config.keep_features = number % 3 != 0;
    if (number % 4 == 1) config.lambda_rule = LambdaRule::loo;
    EditModel model(config, unsigned(number));
    std::optional<Store> store = live(state, config, unsigned(number), model, files);
    const auto before = view(*store);
    REQUIRE(before.digest == model.fresh().digest());
    REQUIRE(export_state(*store, file, "camera 1", files).ok());
    // As one that is not open, and without the trail's end the same.
    REQUIRE(export_state(state, again, "camera 1", files).ok());
    REQUIRE(audit_of_file(file).value() == audit_of_file(again).value());
    REQUIRE(view(*store) == before);
    const StoreMark mark = store->mark();
    store.reset();

    std::filesystem::remove_all(copy);
    REQUIRE(import_state(file, copy, "camera 2", files).ok());
    const VerifyReport verified = verify_store(copy).value();
    REQUIRE(verified.ok);
    REQUIRE(verified.findings.empty());
    Store imported = Store::open(copy, files).value();
    REQUIRE(imported.recovery_note().empty());
    REQUIRE(view(imported) == before);
    REQUIRE(imported.mark().state != mark.state);
    REQUIRE(imported.history().origins == std::vector<std::uint64_t>{mark.state});

    const std::vector<AuditEntry>& trail = imported.history().audit;
    REQUIRE(trail.size() == 3);
    const int classes = int(before.classes.size());
    const std::string host = device_name("").value();
    const std::string nothing = Learner::create(config)->digest();
    CHECK(trail[0] == AuditEntry{host, mark.state, 0, "created", 0, 0, nothing});
    CHECK(trail[1] == AuditEntry{"camera 1", mark.state, mark.sequence, "exported", before.samples,
                                 classes, before.digest});
    CHECK(trail[2] == AuditEntry{"camera 2", imported.mark().state, imported.sequence(), "imported",
                                 before.samples, classes, before.digest});
    // It goes on as any other.
    REQUIRE(imported.learn(small_batch(number)).ok());
    REQUIRE(imported.undo().ok());
    REQUIRE(imported.learner().digest() == before.digest);
    if (config.keep_features && before.samples > 0) {  // and its steps can be undone
      REQUIRE_FALSE(before.steps.empty());
      REQUIRE(imported.undo(int(before.steps.size())).ok());
      REQUIRE(imported.learner().samples() == 0);
    }
    dense += before.form == Form::dense ? 1 : 0;
    dense_steps += before.form == Form::dense && !before.steps.empty() ? 1 : 0;
    empty += before.samples == 0 ? 1 : 0;
    with_readout += before.weights.empty() ? 0 : 1;
  }
  REQUIRE(dense > 20 / test::every());
  REQUIRE(dense_steps > 10 / test::every());
  REQUIRE(empty > 5 / test::every());
  REQUIRE(with_readout > 20 / test::every());
}

TEST_CASE("merging files either way is one learner that saw both", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string file[] = {directory / "a.engram", directory / "b.engram"},
                    state[] = {directory / "a", directory / "b"};
  test::UnsyncedFiles files;
  int mixed = 0, merged = 0, whole = 0;
  for (int number = 0; number < 200; number += test::every()) {
    INFO("histories " << number);
    std::optional<Store> store[2];
    std::optional<EditModel> model[2];
    LearnerConfig config = small_config();
    if (number % 7 == 3) config.lambda_rule = LambdaRule::paper;  // chooses by the open task
    EditModel all(config, 0);
    for (int i = 0; i < 2; ++i) {
      config.keep_features = (number >> i) % 2 == 0 || number % 5 == 0;
      model[i].emplace(config, unsigned(2 * number + i));
      store[i].emplace(live(state[i], config, unsigned(number + i), *model[i], files));
      REQUIRE(export_state(*store[i], file[i], i == 0 ? "a" : "b", files).ok());
      add(all, *model[i]);
    }
    mixed += store[0]->learner().form() != store[1]->learner().form() ? 1 : 0;
    const std::string digest = all.fresh().digest();
    for (int i = 0; i < 2; ++i) {
      const auto before = view(*store[i]);
      const std::int64_t sequence = store[i]->sequence();
      const AuditEntry theirs = audit_of_file(file[1 - i])->back();
      const Result<EditReport> report = merge_state_file(*store[i], file[1 - i], "home");
      if (model[1 - i]->samples.empty()) {
        REQUIRE(says(report.status(), "nothing was learned"));
        REQUIRE(view(*store[i]) == before);
        continue;
      }
      REQUIRE(report.ok());
      ++merged;
      REQUIRE(report->samples == std::int64_t(model[1 - i]->samples.size()));
      REQUIRE(by_name(report->changed) == by_name(model[1 - i]->fresh().classes()));
      REQUIRE(report->readout.has_value());
      const Learner& learner = store[i]->learner();
      REQUIRE(learner.digest() == digest);
      REQUIRE(learner.samples() == std::int64_t(all.samples.size()));
      REQUIRE(learner.readout()->samples == learner.samples());
      REQUIRE(learner.exact_until() == all.fresh().exact_until());
      REQUIRE(store[i]->sequence() == sequence + 1);
      // Our samples keep their ids; the others' follow.
      const auto after = view(*store[i]);
      if (learner.config().keep_features) {
        REQUIRE(std::equal(before.ids.begin(), before.ids.end(), after.ids.begin()));
        REQUIRE((learner.sums_only() > 0) == (after.ids.size() < all.samples.size()));
      }
      if (learner.sums_only() == 0) {
        ++whole;
        REQUIRE(std::equal(before.steps.begin(), before.steps.end(), after.steps.begin()));
      }
      const std::vector<AuditEntry> trail = store[i]->history().audit;
      REQUIRE(trail.size() == 4);
      CHECK(trail[2] == theirs);
      CHECK(trail[3] == AuditEntry{"home", store[i]->mark().state, sequence + 1, "merged",
                                   after.samples, int(after.classes.size()), digest});
      // Durable, and whole.
      REQUIRE(store[i]->learn(small_batch(number)).ok());
      REQUIRE(store[i]->undo().ok());
      store[i].reset();
      REQUIRE(verify_store(state[i])->findings.empty());
      store[i].emplace(Store::open(state[i], files).value());
      REQUIRE(store[i]->recovery_note().empty());
      REQUIRE(store[i]->learner().digest() == digest);
      REQUIRE(store[i]->history().audit == trail);
      // Never twice, also not the other way round.
      const auto now = view(*store[i]);
      REQUIRE(says(merge_state_file(*store[i], file[1 - i], "").status(), "count twice"));
      REQUIRE(says(merge_state_file(*store[i], file[i], "").status(), "count twice"));
      REQUIRE(view(*store[i]) == now);
    }
  }
  REQUIRE(mixed > 30 / test::every());
  REQUIRE(merged > 200 / test::every());
  REQUIRE(whole > 50 / test::every());
}

TEST_CASE("a merge after edits, of a merge, into a new state", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const auto in = [&](const char* name) { return directory / name; };
  test::UnsyncedFiles files;
  const LearnerConfig config = small_config();
  Learner all = Learner::create(config).value();
  for (const int number : {0, 1, 2}) {
    const std::string name(1, char('a' + number));
    Store store = Store::create(in(name.c_str()), config, files).value();
    REQUIRE(store.learn(small_batch(10 + number)).ok());
    REQUIRE(store.learn(small_batch(number)).ok());
    if (number == 0) REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(20)).ok());
    REQUIRE(store.undo().ok());
    REQUIRE(export_state(store, in((name + ".engram").c_str()), "device " + name, files).ok());
    REQUIRE(all.learn(small_batch(10 + number)).ok());
    REQUIRE(all.learn(small_batch(number)).ok());
  }
  // Files and folders, and what came out again.
  REQUIRE(merge_stores(std::vector{in("a.engram"), in("b")}, in("ab"), files, "desk").ok());
  REQUIRE(export_state(in("ab"), in("ab.engram"), "desk", files).ok());
  const std::string host = device_name("").value();
  CHECK(told(audit_of_file(in("ab.engram")).value()) ==
        std::vector<std::string>{host + " created 0", "device a exported 4", host + " created 0",
                                 "desk exported 4", "desk merged 8", "desk exported 8"});
  Store house = Store::create(in("house"), config, files).value();
  REQUIRE(merge_state_file(house, in("c.engram"), "house").ok());
  REQUIRE(merge_state_file(house, in("ab.engram"), "house").ok());
  REQUIRE(house.learner().digest() == all.digest());
  CHECK(house.steps()->size() == 2);  // a merge each
  CHECK(house.history().audit.size() == 11);
  // What is in it already, by whatever way.
  for (const char* name : {"a.engram", "b.engram", "c.engram", "ab.engram"}) {
    REQUIRE(says(merge_state_file(house, in(name), "").status(), "count twice"));
  }
  const std::vector<std::string> twice{in("a.engram"), in("house")};
  REQUIRE(says(merge_stores(twice, in("new"), files).status(), "count twice"));
  // The merge can be taken back, and made again; compaction forgets none of it.
  REQUIRE(house.compact().ok());
  REQUIRE(house.undo().ok());
  REQUIRE(house.learner().samples() == 4);
  CHECK(house.history().audit.size() == 12);
  CHECK(house.history().origins.size() == 1);
  REQUIRE(merge_state_file(house, in("ab.engram"), "house").ok());
  REQUIRE(house.learner().digest() == all.digest());
  REQUIRE(house.forget("red").ok());
  CHECK(house.history().origins.size() == 4);
}

TEST_CASE("states of earlier versions have no trail, and none is needed", "[engine][state_file]") {
  const TempDirectory directory;
  const LearnerConfig config = small_config();
  Learner learner = Learner::create(config).value();
  REQUIRE(learner.learn(small_batch(0)).ok());
  // As they wrote it: without the section.
  const std::string state = directory / "old";
  { REQUIRE(Store::create(state, config).ok()); }
  const StorePaths paths(state);
  LoadedStore loaded = load_store(paths, LoadCheck::none).value();
  loaded.history.audit.clear();
  SnapshotWriter writer = SnapshotWriter::create(paths.snapshot).value();
  REQUIRE(write_state(writer, loaded.mark, loaded.learner, loaded.history).ok());
  REQUIRE(writer.commit().ok());
  {
    Store store = Store::open(state).value();
    REQUIRE(store.history().audit.empty());
    REQUIRE(store.learn(small_batch(0)).ok());
  }
  REQUIRE(export_state(state, directory / "old.engram", "attic").ok());
  REQUIRE(import_state(directory / "old.engram", directory / "new", "desk").ok());
  const Store store = Store::open(directory / "new").value();
  CHECK(told(store.history().audit) ==
        std::vector<std::string>{"attic exported 2", "desk imported 2"});
  CHECK(store.learner().digest() == learner.digest());
}

}  // namespace engram
