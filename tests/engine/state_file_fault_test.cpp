// Exported files that are broken, and disks that fail while they are written, imported or merged.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "engine/byte_io.h"
#include "engine/snapshot_layout.h"
#include "engine/state_file.h"
#include "engine/store_load.h"
#include "engine/store_merge.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {
namespace {

using test::content;
using test::FaultFiles;
using test::PowerCutFiles;
using test::reopened;
using test::says;
using test::small_batch;
using test::small_config;
using test::StoreContent;
using test::TempDirectory;

std::vector<std::byte> bytes_of(const std::string& file) {
  return read_file(file, std::size_t{1} << 24).value();
}

// Two states, "a" and "b", and the file "b.engram".
void make_two(const TempDirectory& directory, bool keep_features = true) {
  LearnerConfig config = small_config();
  config.keep_features = keep_features;
  for (const int number : {0, 1}) {
    const std::string state = directory / (number == 0 ? "a" : "b");
    Store store = Store::create(state, config).value();
    REQUIRE(store.learn(small_batch(number)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(10 + number)).ok());
    if (number == 1) REQUIRE(export_state(store, directory / "b.engram", "b").ok());
  }
}

void copy_store(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to);
}

// The file with other content in one section, as its writer would have sealed it.
std::string with_section(const std::string& file, const std::string& name,
                         const std::function<void(std::vector<std::byte>&)>& change) {
  constexpr const char* kAll[] = {"store",        "config",     "progress",        "classes",
                                  "gram",         "class_sums", "feature_sums",    "task_rows",
                                  "task_classes", "task_ids",   "kept_rows",       "kept_classes",
                                  "kept_ids",     "readout",    "feature_weights", "confidence",
                                  "probes",       "examples",   "history",         "audit"};
  const SnapshotReader reader = SnapshotReader::open(file).value();
  const std::string changed = file + ".changed";
  SnapshotWriter writer = SnapshotWriter::create(changed).value();
  for (const char* section : kAll) {
    if (!reader.has(section)) continue;
    const auto span = reader.section(section).value();
    std::vector<std::byte> bytes(span.begin(), span.end());
    if (section == name) change(bytes);
    REQUIRE(writer.begin_section(section).ok());
    REQUIRE(writer.write(bytes).ok());
  }
  REQUIRE(writer.commit().ok());
  return changed;
}

void put_at(std::vector<std::byte>& bytes, std::size_t at, std::int64_t value) {
  REQUIRE(at + sizeof(value) <= bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

}  // namespace

TEST_CASE("a file that was cut short or has a flipped bit is refused", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  for (const bool keep_features : {true, false}) {
    std::filesystem::remove_all(directory / "a");
    std::filesystem::remove_all(directory / "b");
    make_two(directory, keep_features);
    std::vector<std::byte> bytes = bytes_of(directory / "b.engram");
    REQUIRE(parse_state_file(SnapshotReader::parse(bytes, "file").value()).ok());
    for (std::size_t size = 0; size < bytes.size(); size += std::size_t(test::every())) {
      const Status status = SnapshotReader::parse(std::span(bytes).first(size), "file").status();
      if (status.code() != Code::bad_data) FAIL("cut after " << size);
    }
    // The dense file is large: some of its bits, of every section.
    const std::size_t step = std::size_t(test::every()) * (keep_features ? 1 : 37);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      const Status status = SnapshotReader::parse(bytes, "file").status();
      if (status.code() != Code::bad_data) FAIL("bit " << bit << ": " << status.what());
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
}

TEST_CASE("damaged and strange files change nothing", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_two(directory);
  const std::string good = directory / "b.engram";
  Store store = Store::open(directory / "a").value();
  const StoreContent before = content(store);
  const auto refused = [&](const std::string& file, Code code, const char* why) {
    INFO(file << ": " << why);
    for (const Status& status :
         {merge_state_file(store, file, "").status(), import_state(file, directory / "new", ""),
          merge_stores(std::vector{directory / "a", file}, directory / "new").status()}) {
      INFO(status.what());
      CHECK(status.code() == code);
      CHECK(says(status, why));
    }
    REQUIRE(content(store) == before);
    REQUIRE_FALSE(Store::exists(directory / "new"));
  };
  refused(directory / "none", Code::not_found, "none");
  std::vector<std::byte> bytes = bytes_of(good);
  const std::string bad = directory / "bad.engram";
  const auto write_bad = [&](std::span<const std::byte> content) {
    REQUIRE(replace_file(bad, content).ok());
  };
  write_bad({});
  refused(bad, Code::bad_data, "within its header");
  write_bad(std::span(bytes).first(bytes.size() - 1));
  refused(bad, Code::bad_data, "bytes where its header says");
  bytes[2000] ^= std::byte{1};
  write_bad(bytes);
  refused(bad, Code::bad_data, "checksum does not match");
  bytes[2000] ^= std::byte{1};
  write_bad(std::vector<std::byte>(5000, std::byte{'x'}));
  refused(bad, Code::bad_data, "not an Engram state file");
  // A newer version.
  bytes[8] = std::byte{99};
  const std::uint64_t sum = checksum64(std::span(bytes).first(snapshot_layout::kChecksumAt));
  std::memcpy(bytes.data() + snapshot_layout::kChecksumAt, &sum, sizeof(sum));
  write_bad(bytes);
  refused(bad, Code::not_supported, "newer version");
  // The files of a state are none.
  refused(directory / "b/snapshot", Code::bad_data, "is no exported state");
  refused(directory / "b/readout", Code::bad_data, "is no exported state");
  refused(directory / "b/journal", Code::bad_data, "not an Engram state file");

  // Whole, but it does not say the truth about itself.
  const auto crafted = [&](const char* section, std::size_t at, std::int64_t value,
                           const char* why) {
    refused(with_section(good, section, [&](auto& content) { put_at(content, at, value); }),
            Code::bad_data, why);
  };
  crafted("store", 0, 7, "not what its audit trail says");
  crafted("store", 8, 77, "not what its audit trail says");
  crafted("store", 8, INT64_MAX, "make no sense");
  crafted("history", 16, INT64_MAX, "make no sense");
  crafted("history", 0, INT64_MAX, "makes no sense");
  crafted("kept_rows", 0, 0x0101010101010101, "not what its audit trail says");
  for (const std::size_t at : {std::size_t{8}, std::size_t{16}}) crafted("audit", at, -1, "audit");
  refused(with_section(good, "audit", [](auto& content) { content.clear(); }), Code::bad_data,
          "is no exported state");
  refused(with_section(good, "audit", [](auto& content) { content.pop_back(); }), Code::bad_data,
          "audit");
  refused(with_section(good, "progress",
                       [](auto& content) {
                         std::string text = as_text(content);
                         const std::string key = "\"next_id\":";
                         text.insert(text.find(key) + key.size(), "922337203685477580");
                         content.assign(as_bytes(text).begin(), as_bytes(text).end());
                       }),
          Code::bad_data, "make no sense");
}

TEST_CASE("states that do not go together, and places that are taken", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_two(directory);
  LearnerConfig config = small_config();
  config.seed = 9;
  config.backbone = std::string(64, 'b');
  Store other = Store::create(directory / "other", config).value();
  const Status status = merge_state_file(other, directory / "b.engram", "").status();
  CHECK(status.code() == Code::invalid_argument);
  CHECK(says(status, "backbone bbbb"));
  CHECK(says(status, "seed 9 and 1"));
  CHECK(says(merge_state_file(other, directory / "b.engram", "two\nlines").status(), "device"));
  CHECK(says(import_state(directory / "b.engram", directory / "a", ""), "`engram merge`"));
  CHECK(import_state(directory / "b.engram", directory / "new", std::string(256, 'x')).code() ==
        Code::invalid_argument);
  const auto not_to = [&](const std::string& file, const char* why) {
    const Status refused = export_state(directory / "b", file, "");
    CHECK(refused.code() == Code::invalid_argument);
    CHECK(says(refused, why));
  };
  not_to(directory / "a", "is a folder");
  not_to(directory / "new/", "is a folder");
  not_to("/dev/null", "no plain file");
  not_to(directory / "a/snapshot", "belongs to the state");
  not_to(directory / "b/lock", "belongs to the state");
  CHECK(export_state(directory / "none", directory / "file", "").code() == Code::not_found);
  CHECK(export_state(directory / "b", directory / "none/file", "").code() == Code::io_failure);
  CHECK(reopened(directory / "a").ok());
}

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
