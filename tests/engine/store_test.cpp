#include "engine/store.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram {

using test::content;
using test::FaultFiles;
using test::reopened;
using test::says;
using test::small_batch;
using test::small_config;
using test::small_store;
using test::StoreContent;
using test::TempDirectory;
using test::UnsyncedFiles;

TEST_CASE("a new state is small, empty, and not made twice", "[engine][store]") {
  const TempDirectory directory;
  const std::string state = directory / "a/b";
  REQUIRE_FALSE(Store::exists(state));
  REQUIRE(Store::open(state).status().code() == Code::not_found);
  LearnerConfig config = small_config();
  config.hidden = 2000;
  { REQUIRE(Store::create(state, config).ok()); }
  REQUIRE(Store::exists(state));
  REQUIRE(std::filesystem::file_size(state + "/snapshot") < 10'000);
  REQUIRE(Store::create(state, config).status().code() == Code::invalid_argument);
  const Store store = Store::open(state).value();
  REQUIRE(store.learner().config() == config);
  REQUIRE(store.sequence() == 0);
  REQUIRE(store.learner().samples() == 0);
  REQUIRE(store.recovery_note().empty());
}

TEST_CASE("a config that makes no sense makes no directory", "[engine][store]") {
  const TempDirectory directory;
  REQUIRE_FALSE(Store::create(directory / "state", LearnerConfig{}).ok());
  REQUIRE_FALSE(std::filesystem::exists(directory / "state"));
}

TEST_CASE("what was learned is there after opening again", "[engine][store]") {
  const TempDirectory directory;
  StoreContent before;
  {
    Store store = small_store(directory.path(), 3);
    const ReadoutReport report = store.end_task().value();
    REQUIRE(report.lambda == 10);
    REQUIRE(store.learn(small_batch(3)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(4)).ok());
    before = content(store);
    REQUIRE(before.sequence == 7);
    REQUIRE(before.samples == 10);
    REQUIRE(before.task_samples == 2);
    REQUIRE(before.tasks == 2);
    REQUIRE(before.weights.size() == 200);
  }
  REQUIRE(reopened(directory.path()).value() == before);
  const StoredReadout stored = read_readout(directory.path()).value();
  REQUIRE(stored.config == small_config());
  REQUIRE(stored.readout.weights == before.weights);
  REQUIRE(stored.readout.classes == std::vector<std::string>{"red", "blue"});
  REQUIRE(stored.readout.samples == 8);
  REQUIRE(stored.sequence == 6);

  const VerifyReport report = verify_store(directory.path()).value();
  REQUIRE(report.ok);
  REQUIRE(report.findings.empty());
  REQUIRE(report.samples == 10);
  REQUIRE(report.sequence == 7);
  REQUIRE(report.digest == before.digest);
}

TEST_CASE("compaction keeps everything and empties the journal", "[engine][store]") {
  const TempDirectory directory;
  StoreContent before;
  {
    Store store = small_store(directory.path(), 3);
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(3)).ok());
    const std::int64_t journal = store.journal_bytes();
    before = content(store);
    REQUIRE(store.compact().ok());
    REQUIRE(content(store) == before);
    REQUIRE(store.journal_bytes() < journal);
  }
  REQUIRE(reopened(directory.path()).value() == before);
  {
    Store store = Store::open(directory.path()).value();
    REQUIRE(store.learn(small_batch(4)).ok());
    REQUIRE(store.compact().ok());
    REQUIRE(store.learn(small_batch(5)).ok());
    before = content(store);
    REQUIRE(before.sequence == 7);
  }
  REQUIRE(reopened(directory.path()).value() == before);
  REQUIRE(verify_store(directory.path())->ok);
}

TEST_CASE("a full journal is compacted before it takes more", "[engine][store]") {
  const TempDirectory directory;
  const std::int64_t full = small_store(directory.path(), 3).journal_bytes();
  UnsyncedFiles files;
  Store store = Store::open(directory.path(), files, std::size_t(full)).value();
  REQUIRE(store.learn(small_batch(3)).ok());
  REQUIRE(store.journal_bytes() < full);
  REQUIRE(store.note().empty());
  while (store.journal_bytes() + 60 < full) REQUIRE(store.learn(small_batch(4)).ok());
  REQUIRE(store.end_task().ok());  // it too finds its place
  const StoreContent last = content(store);
  { const Store closed = std::move(store); }
  REQUIRE(reopened(directory.path()).value() == last);
}

TEST_CASE("a full journal that cannot be compacted takes nothing, and loses nothing",
          "[engine][store][fault]") {
  int calls = 1;
  for (int at = -1; at < calls; ++at) {
    const TempDirectory directory;
    const std::int64_t full = small_store(directory.path(), 3).journal_bytes();
    FaultFiles files;
    StoreContent before;
    {
      Store store = Store::open(directory.path(), files, std::size_t(full)).value();
      before = content(store);
      files = at < 0 ? FaultFiles() : FaultFiles(FaultFiles::Fault::fail_after, at, ENOSPC);
      if (at < 0) {
        REQUIRE(store.compact().ok());
        calls = files.calls();
        continue;
      }
      const Status status = store.learn(small_batch(3));
      INFO("call " << at << ": " << status.what());
      REQUIRE(status.code() == Code::io_failure);
      if (at < calls - 1) {  // the last is the close of a directory, whose failure loses nothing
        REQUIRE(says(status, "journal is full and could not be compacted"));
        REQUIRE(says(status, "as it was before"));
      }
      REQUIRE(content(store) == before);
      files = FaultFiles();
    }
    REQUIRE(reopened(directory.path()).value() == before);
  }
}

TEST_CASE("compaction is due when replay is dear", "[engine][store]") {
  LearnerConfig config = small_config();
  config.hidden = 2000;
  REQUIRE_FALSE(compaction_due(config, 10'000, 1 << 20));
  REQUIRE(compaction_due(config, 11'000, 1 << 20));
  REQUIRE(compaction_due(config, 1, 65 << 20));
  config.hidden = 10'000;
  REQUIRE_FALSE(compaction_due(config, 700, 1 << 20));
  REQUIRE(compaction_due(config, 900, 1 << 20));
}

TEST_CASE("a batch that the learner refuses changes nothing", "[engine][store]") {
  const TempDirectory directory;
  Store store = small_store(directory.path(), 1);
  const StoreContent before = content(store);
  const std::int64_t bytes = store.journal_bytes();
  SampleBatch batch = small_batch(1);
  batch.rows.resize(4);
  REQUIRE(store.learn(batch).code() == Code::invalid_argument);
  batch = small_batch(1);
  batch.labels[1] = std::string(300, 'x');
  REQUIRE(store.learn(batch).code() == Code::invalid_argument);
  REQUIRE(store.learn(SampleBatch{}).ok());  // nothing to do
  REQUIRE(content(store) == before);
  REQUIRE(store.journal_bytes() == bytes);
}

TEST_CASE("ending a task without a sample changes nothing", "[engine][store]") {
  const TempDirectory directory;
  Store store = Store::create(directory.path(), small_config()).value();
  REQUIRE(store.end_task().status().code() == Code::invalid_argument);
  REQUIRE(store.sequence() == 0);
  const auto readout = read_readout(directory.path());
  REQUIRE(readout.status().code() == Code::not_found);
  REQUIRE(says(readout.status(), "no task has ended yet"));
  REQUIRE(says(read_readout(directory / "elsewhere").status(), "no state"));
  REQUIRE(verify_store(directory / "elsewhere").status().code() == Code::not_found);
}

TEST_CASE("the end of a task can be called off behind its solve", "[engine][store]") {
  const TempDirectory directory;
  Store store = small_store(directory.path(), 2);
  const StoreContent before = content(store);
  const Status off = store.end_task([] { return Status(Code::busy, "not now"); }).status();
  REQUIRE(off.code() == Code::busy);
  REQUIRE(says(off, "not now"));
  REQUIRE(content(store) == before);
  REQUIRE(verify_store(directory.path())->findings.empty());
  REQUIRE(read_readout(directory.path()).status().code() == Code::not_found);
  REQUIRE(store.end_task([] { return Status(); }).ok());
  REQUIRE(store.learner().tasks() == 1);
  REQUIRE(read_readout(directory.path()).ok());
}

TEST_CASE("one process writes, others read meanwhile", "[engine][store]") {
  const TempDirectory directory;
  Store store = small_store(directory.path(), 2);
  REQUIRE(store.end_task().ok());
  const auto second = Store::open(directory.path());
  REQUIRE(second.status().code() == Code::busy);
  REQUIRE(says(second.status(), "another process"));
  REQUIRE(Store::create(directory.path(), small_config()).status().code() == Code::busy);
  REQUIRE(read_readout(directory.path()).ok());
  REQUIRE(verify_store(directory.path())->ok);
  REQUIRE(store.learn(small_batch(2)).ok());
  REQUIRE(verify_store(directory.path())->sequence == 4);
}

TEST_CASE("float states keep their bits as well", "[engine][store]") {
  const TempDirectory directory;
  LearnerConfig config = small_config();
  config.arithmetic = Arithmetic::floating;
  config.weights = Weights::gaussian;
  config.lambda_rule = LambdaRule::paper;
  StoreContent before;
  {
    Store store = Store::create(directory.path(), config).value();
    std::vector<float> features(12 * 6);
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < features.size(); ++i) features[i] = 0.1f * float((i * 37) % 23);
    for (int i = 0; i < 12; ++i) labels.push_back(i % 2 == 0 ? "even" : "odd");
    const SampleBatch batch = store.learner().encode({features.data(), 12, 6, 6}, labels).value();
    REQUIRE(store.learn(batch).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(batch).ok());
    before = content(store);
  }
  REQUIRE(reopened(directory.path()).value() == before);
  REQUIRE(verify_store(directory.path())->ok);
}

}  // namespace engram
