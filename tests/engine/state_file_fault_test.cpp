// Disks that fail, and power that is cut, while states are exported, imported and merged.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/state_file.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"
#include "tests/support/two_states.h"

namespace engram {
namespace {

using test::bytes_of;
using test::content;
using test::copy_store;
using test::FaultFiles;
using test::make_two;
using test::PowerCutFiles;
using test::reopened;
using test::says;
using test::small_batch;
using test::StoreContent;
using test::TempDirectory;

}  // namespace

TEST_CASE("a failing call leaves an exported file whole or absent", "[engine][state_file][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_two(directory);
  const std::string out = directory / "out", file = out + "/file.engram";
  FaultFiles counter;
  std::filesystem::create_directory(out);
  REQUIRE(export_state(directory / "a", file, "x", counter).ok());
  const std::vector<std::byte> expected = bytes_of(file), old{std::byte{1}, std::byte{2}};
  for (const bool replaces : {false, true}) {
    const auto prepare = [&] {
      std::filesystem::remove_all(out);
      std::filesystem::create_directory(out);
      if (replaces) REQUIRE(replace_file(file, old).ok());
    };
    const auto whole = [&](bool done) {
      if (std::filesystem::exists(file)) {
        const std::vector<std::byte> found = bytes_of(file);
        REQUIRE((found == expected || (replaces && !done && found == old)));
      } else {
        REQUIRE((!replaces && !done));
      }
    };
    for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                             FaultFiles::Fault::full_after}) {
      for (int at = 0; at < counter.calls(); ++at) {
        INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
        prepare();
        FaultFiles files(fault, at, ENOSPC);
        const Status status = export_state(directory / "a", file, "x", files);
        if (!status.ok()) REQUIRE(says(status, std::strerror(ENOSPC)));
        whole(status.ok());
      }
    }
    for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
      for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::torn}) {
        for (int at = 0; at <= counter.calls(); ++at) {
          INFO("cut at call " << at << ", names " << int(names) << ", contents " << int(contents));
          prepare();
          PowerCutFiles files(out, at);
          const bool done = export_state(directory / "a", file, "x", files).ok();
          files.leave(names, contents, std::uint64_t(at));
          whole(done);
        }
      }
    }
  }
}

TEST_CASE("a failing call or a power cut leaves an imported state whole or absent",
          "[engine][state_file][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_two(directory);
  const std::string file = directory / "b.engram", state = directory / "new";
  FaultFiles counter;
  REQUIRE(import_state(file, state, "x", counter).ok());
  const StoreContent expected = reopened(state).value();
  const auto check = [&] {
    if (!Store::exists(state)) REQUIRE(import_state(file, state, "x").ok());
    REQUIRE(reopened(state).value() == expected);
    REQUIRE(verify_store(state)->findings.empty());
  };
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); at += test::every()) {
      INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
      std::filesystem::remove_all(state);
      FaultFiles files(fault, at, ENOSPC);
      const Status status = import_state(file, state, "x", files);
      if (!status.ok()) REQUIRE(says(status, "No state was made"));
      check();
    }
  }
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::torn}) {
      for (int at = 0; at <= counter.calls(); at += test::every()) {
        INFO("cut at call " << at << ", names " << int(names) << ", contents " << int(contents));
        std::filesystem::remove_all(state);
        std::filesystem::create_directory(state);
        PowerCutFiles files(state, at);
        const bool done = import_state(file, state, "x", files).ok();
        files.leave(names, contents, std::uint64_t(at));
        if (done) REQUIRE(Store::exists(state));
        check();
      }
    }
  }
}

TEST_CASE("a failing call or a power cut leaves a state before or after a merge, never between",
          "[engine][state_file][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string state = directory / "state", base = directory / "a",
                    file = directory / "b.engram";
  make_two(directory);
  const StoreContent before = reopened(base).value();
  copy_store(base, state);
  FaultFiles counter;
  int opening = 0, end = 0;
  StoreContent after;
  {
    Store store = Store::open(state, counter).value();
    opening = counter.calls();
    REQUIRE(merge_state_file(store, file, "x").ok());
    end = counter.calls();
    after = content(store);
  }
  REQUIRE(reopened(state).value() == after);
  REQUIRE(after.sequence == before.sequence + 1);

  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = opening; at < end; ++at) {
      INFO("call " << at << " (" << name(counter.log()[at]) << "), kind " << int(fault));
      copy_store(base, state);
      FaultFiles files(fault, at, ENOSPC);
      Status status;
      StoreContent last;
      {
        Store store = Store::open(state, files).value();
        status = merge_state_file(store, file, "x").status();
        const StoreContent in_memory = content(store);
        const bool merged = in_memory == after;
        REQUIRE((merged || in_memory == before));
        if (!status.ok()) {
          REQUIRE(says(status, std::strerror(ENOSPC)));
          REQUIRE(merged == says(status, "The states are merged, but"));
        }
        if (fault == FaultFiles::Fault::fail_once) {
          // The same process goes on, or says that it cannot.
          const Status next = store.learn(small_batch(9));
          if (!next.ok()) REQUIRE(says(next, "writes nothing more"));
        }
        last = content(store);
      }
      if (status.ok()) REQUIRE(last.sequence >= after.sequence);
      REQUIRE(reopened(state).value() == last);
      REQUIRE(verify_store(state)->findings.empty());
    }
  }
  int cuts = 0;
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::latest,
                                PowerCutFiles::Contents::torn}) {
      for (int at = 0;; ++at) {
        INFO("cut at call " << at << ", names " << int(names) << ", contents " << int(contents));
        copy_store(base, state);
        PowerCutFiles files(state, at);
        bool merged = false, learned = false;
        {
          auto store = Store::open(state, files);
          merged = store.ok() && merge_state_file(*store, file, "x").ok();
          learned = merged && store->learn(small_batch(9)).ok();
        }
        const bool cut = files.calls() > at;
        files.leave(names, contents, std::uint64_t(at));
        const StoreContent left = reopened(state).value();
        if (learned) {
          REQUIRE(left.samples == after.samples + 2);
        } else if (merged) {
          REQUIRE((left == after || left.samples == after.samples + 2));
        } else {
          REQUIRE((left == before || left == after));
        }
        REQUIRE(verify_store(state)->ok);
        ++cuts;
        if (!cut) break;
      }
    }
  }
  REQUIRE(cuts > 60);
}

TEST_CASE("a failed call in a merge, then more work, then a power cut: what was told is there",
          "[engine][state_file][fault]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string state = directory / "state", file = directory / "b.engram";
  make_two(directory);
  const StoreContent before = reopened(directory / "a").value();
  for (const auto names : {PowerCutFiles::Names::synced, PowerCutFiles::Names::latest}) {
    for (const auto contents : {PowerCutFiles::Contents::synced, PowerCutFiles::Contents::torn}) {
      for (int fail_at = 0;; ++fail_at) {
        INFO("call " << fail_at << ", names " << int(names) << ", contents " << int(contents));
        copy_store(directory / "a", state);
        PowerCutFiles files(state, -1, fail_at);
        StoreContent told = before, last = before;
        {
          auto store = Store::open(state, files);
          if (store.ok()) {
            if (merge_state_file(*store, file, "x").ok()) told = content(*store);
            if (store->learn(small_batch(9)).ok()) told = content(*store);
            last = content(*store);
          }
        }
        const bool struck = files.calls() > fail_at;
        files.leave(names, contents, std::uint64_t(fail_at));
        const StoreContent left = reopened(state).value();
        REQUIRE((left == told || left == last));
        REQUIRE(verify_store(state)->ok);
        if (!struck) break;
      }
    }
  }
}

}  // namespace engram
