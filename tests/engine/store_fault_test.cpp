// Every call that can fail, fails: a store must be what it was, or what it was asked to become.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "engine/store.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {

using test::content;
using test::copy_store;
using test::FaultFiles;
using test::PowerCutFiles;
using test::reopened;
using test::small_batch;
using test::small_config;
using test::StoreContent;
using test::TempDirectory;

namespace {

// One thing that is done to a store of two batches, a task, and one batch.
struct Operation {
  const char* name;
  std::function<Status(Store&)> run;
};

// The oldest or newest class; in an empty state a name that is none.
std::string oldest_class(const Store& store) {
  const auto classes = store.learner().classes();
  return classes.empty() ? "none" : classes.front().label;
}
std::string newest_class(const Store& store) {
  const auto classes = store.learner().classes();
  return classes.empty() ? "none" : classes.back().label;
}

const Operation kOperations[] = {
    {"learn", [](Store& store) { return store.learn(small_batch(3)); }},
    {"end_task", [](Store& store) { return store.end_task().status(); }},
    {"relabel", [](Store& store) { return store.relabel_last(1, "green").status(); }},
    {"rename",
     [](Store& store) {
       const std::string name = "renamed " + std::to_string(store.sequence());
       return store.rename(oldest_class(store), name).status();
     }},
    {"undo", [](Store& store) { return store.undo().status(); }},
    {"compact", [](Store& store) { return store.compact(); }},
    {"forget", [](Store& store) { return store.forget(newest_class(store)).status(); }},
    {"undo all",
     [](Store& store) { return store.undo(int(store.steps().value().size())).status(); }},
};

// Of few samples, or of so many that they are held as sums, with their rows beside them.
enum class Size { few, many };

void make_store(const std::string& directory, Size size = Size::few) {
  Store store = Store::create(directory, small_config()).value();
  if (size == Size::many) {
    REQUIRE(store.learn(test::large_batch()).ok());
    REQUIRE(store.learner().form() == Form::dense);
    REQUIRE(store.compact().ok());
  }
  REQUIRE(store.learn(small_batch(0)).ok());
  REQUIRE(store.learn(small_batch(1)).ok());
  REQUIRE(store.end_task().ok());
  REQUIRE(store.learn(small_batch(2)).ok());
}

// A copy is much cheaper than learning it all again for every fault.
}  // namespace

TEST_CASE("a failing call leaves the store before or after, never between",
          "[engine][store][fault]") {
  const Size size = GENERATE(Size::few, Size::many);
  const TempDirectory directory(TempDirectory::Where::memory);
  make_store(directory / "base", size);
  const std::string state = directory / "state";
  const StoreContent before = reopened(directory / "base").value();
  REQUIRE(before.ids.size() == std::size_t(before.samples));
  int faults = 0;
  for (const Operation& operation : kOperations) {
    // Without a fault: how many calls there are, and what comes out.
    copy_store(directory / "base", state);
    FaultFiles counter;
    StoreContent after;
    int opening = 0;
    {
      Store store = Store::open(state, counter).value();
      opening = counter.calls();
      REQUIRE(operation.run(store).ok());
      after = content(store);
    }
    REQUIRE(reopened(state).value() == after);

    for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                             FaultFiles::Fault::full_after}) {
      for (const int error : {EIO, ENOSPC, EROFS}) {
        const int stride = test::every() * (size == Size::many ? 11 : 1);
        for (int at = opening; at < counter.calls(); at += stride) {
          INFO(operation.name << ", call " << at << " (" << name(counter.log()[at]) << "), "
                              << std::strerror(error) << ", kind " << int(fault));
          copy_store(directory / "base", state);
          FaultFiles files(fault, at, error);
          StoreContent in_memory;
          Status status;
          {
            Store store = Store::open(state, files).value();
            status = operation.run(store);
            in_memory = content(store);
          }
          ++faults;
          const StoreContent left = reopened(state).value();
          if (status.ok()) {
            REQUIRE(left == after);
          } else {
            REQUIRE(status.code() == Code::io_failure);
            REQUIRE(test::says(status, std::strerror(error)));
            REQUIRE((left == before || left == after));
            // What a single fault leaves is also what the process itself goes on with.
            if (fault == FaultFiles::Fault::fail_once) REQUIRE(left == in_memory);
          }
          REQUIRE(verify_store(state)->ok);
          REQUIRE(verify_store(state)->findings.empty());
        }
      }
    }
  }
  REQUIRE(faults > 500 / 11 / test::every());
}

TEST_CASE("after a failed call the same process goes on, or says that it cannot",
          "[engine][store][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_store(directory / "base");
  const std::string state = directory / "state";
  for (const Operation& operation : kOperations) {
    copy_store(directory / "base", state);
    FaultFiles counter;
    int opening = 0;
    int end = 0;
    {
      Store store = Store::open(state, counter).value();
      opening = counter.calls();
      REQUIRE(operation.run(store).ok());
      end = counter.calls();
    }
    for (int at = opening; at < end; ++at) {
      INFO(operation.name << ", call " << at << " (" << name(counter.log()[at]) << ")");
      copy_store(directory / "base", state);
      FaultFiles files(FaultFiles::Fault::fail_once, at, ENOSPC);
      StoreContent last;
      {
        Store store = Store::open(state, files).value();
        static_cast<void>(operation.run(store).ok());
        const Status next = store.learn(small_batch(9));
        if (!next.ok()) REQUIRE(test::says(next, "writes nothing more"));
        last = content(store);
      }
      REQUIRE(reopened(state).value() == last);
    }
  }
}

TEST_CASE("a failing call while a state is made leaves none, or a whole one",
          "[engine][store][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string state = directory / "state";
  FaultFiles counter;
  { REQUIRE(Store::create(state, small_config(), counter).ok()); }
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); ++at) {
      INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
      std::filesystem::remove_all(state);
      FaultFiles files(fault, at, EROFS);
      const Status status = Store::create(state, small_config(), files).status();
      if (!status.ok()) {
        REQUIRE(test::says(status, "No state was made"));
        REQUIRE(test::says(status, std::strerror(EROFS)));
        if (fault == FaultFiles::Fault::fail_once) REQUIRE_FALSE(Store::exists(state));
      }
      if (!Store::exists(state)) REQUIRE(Store::create(state, small_config()).ok());
      REQUIRE(reopened(state)->samples == 0);
    }
  }
}

TEST_CASE("a failing call while a state is opened changes nothing that counts",
          "[engine][store][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_store(directory / "base");
  const StoreContent before = reopened(directory / "base").value();
  // The most to repair: a torn tail and a missing readout.
  const auto damage = [&](const std::string& state) {
    copy_store(directory / "base", state);
    std::filesystem::remove(state + "/readout");
    std::filesystem::resize_file(state + "/journal",
                                 std::filesystem::file_size(state + "/journal") + 17);
  };
  const std::string state = directory / "state";
  damage(state);
  FaultFiles counter;
  { REQUIRE(Store::open(state, counter).ok()); }
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after}) {
    for (int at = 0; at < counter.calls(); ++at) {
      INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
      damage(state);
      FaultFiles files(fault, at);
      const Status status = Store::open(state, files).status();
      if (!status.ok()) REQUIRE(status.code() == Code::io_failure);
      REQUIRE(reopened(state).value() == before);
    }
  }
}

TEST_CASE("a power cut at any call keeps every acknowledged event", "[engine][store][power]") {
  const Size size = GENERATE(Size::few, Size::many);
  const int stride = test::every() * (size == Size::many ? 37 : 1);
  const TempDirectory directory(TempDirectory::Where::memory);
  make_store(directory / "base", size);
  const std::string state = directory / "state";
  const StoreContent start = reopened(directory / "base").value();
  int cuts = 0;
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::latest,
                                PowerCutFiles::Contents::torn}) {
      for (int at = 0;; at += test::every()) {
        INFO("call " << at << ", names " << int(names) << ", contents " << int(contents));
        copy_store(directory / "base", state);
        PowerCutFiles files(state, at);
        StoreContent acknowledged = start;
        bool running = true;
        {
          auto store = Store::open(state, files);
          for (int round = 0; store.ok() && running && round < 2; ++round) {
            for (const Operation& operation : kOperations) {
              running = operation.run(*store).code() != Code::io_failure;
              if (!running) break;
              acknowledged = content(*store);
            }
          }
        }
        const int calls = files.calls();
        files.leave(names, contents, std::uint64_t(at));
        ++cuts;
        const StoreContent left = reopened(state).value();
        const std::int64_t durable = acknowledged.sequence;
        REQUIRE((left.sequence == durable || left.sequence == durable + 1));
        if (left.sequence == durable) REQUIRE(left == acknowledged);
        REQUIRE(verify_store(state)->ok);
        if (calls <= at) break;
      }
    }
  }
  REQUIRE(cuts > 700 / stride);
}

TEST_CASE("what a killed process did not sync is made sure before a readout is built on it",
          "[engine][store][power]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string state = directory / "state";
  make_store(state);
  StoreContent ended;
  std::int64_t record = 0;
  {
    Store store = Store::open(state).value();
    record = -store.journal_bytes();
    REQUIRE(store.end_task().ok());
    record += store.journal_bytes();
    ended = content(store);
  }
  // Killed between the journal's write and its fsync: the readout is not in place either.
  std::filesystem::remove(state + "/readout");
  PowerCutFiles files(state);
  files.not_synced("journal", std::size_t(record));
  { REQUIRE(content(Store::open(state, files).value()) == ended); }
  files.leave(PowerCutFiles::Names::synced, PowerCutFiles::Contents::synced, 0);
  REQUIRE(reopened(state).value() == ended);
}

TEST_CASE("a failed call, then more work, then a power cut: what was acknowledged is there",
          "[engine][store][power]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_store(directory / "base");
  const std::string state = directory / "state";
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::torn}) {
      for (int fail_at = 0;; fail_at += test::every()) {
        INFO("call " << fail_at << ", names " << int(names) << ", contents " << int(contents));
        copy_store(directory / "base", state);
        PowerCutFiles files(state, -1, fail_at);
        StoreContent acknowledged = reopened(directory / "base").value();
        StoreContent last = acknowledged;
        {
          auto store = Store::open(state, files);
          bool ok = store.ok();
          for (std::size_t step = 0; ok && step < 2 * std::size(kOperations); ++step) {
            ok = kOperations[step % std::size(kOperations)].run(*store).code() != Code::io_failure;
            last = content(*store);
            if (ok) acknowledged = last;
          }
          // One batch more, and nothing behind it that would fsync the directory by the way.
          if (store.ok() && store->learn(small_batch(9)).ok())
            acknowledged = last = content(*store);
        }
        const int calls = files.calls();
        files.leave(names, contents, std::uint64_t(fail_at));
        const StoreContent left = reopened(state).value();
        REQUIRE(left.sequence >= acknowledged.sequence);
        REQUIRE(left.sequence <= last.sequence + 1);
        if (left.sequence == acknowledged.sequence) REQUIRE(left == acknowledged);
        REQUIRE(verify_store(state)->ok);
        if (calls <= fail_at) break;
      }
    }
  }
}

}  // namespace engram
