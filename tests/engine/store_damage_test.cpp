// A small state, cut at every byte and with every bit flipped: what is loaded is right, or refused.
#include <algorithm>
#include <cstdio>

#include "engine/journal.h"
#include "engine/journal_layout.h"
#include "engine/store.h"
#include "engine/store_load.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"

namespace engram {

using test::content;
using test::small_batch;
using test::small_config;
using test::StoreContent;
using test::TempDirectory;

namespace {

// A snapshot of two batches and a task; a journal of a batch, a task and two batches; the readout.
// Returns what there is after each event of the journal.
std::vector<StoreContent> make_store(const std::string& directory) {
  Store store = Store::create(directory, small_config()).value();
  REQUIRE(store.learn(small_batch(0)).ok());
  REQUIRE(store.learn(small_batch(1)).ok());
  REQUIRE(store.end_task().ok());
  REQUIRE(store.compact().ok());
  std::vector<StoreContent> contents = {content(store)};
  REQUIRE(store.learn(small_batch(2)).ok());
  contents.push_back(content(store));
  REQUIRE(store.end_task().ok());
  contents.push_back(content(store));
  for (const int number : {3, 4}) {
    REQUIRE(store.learn(small_batch(number)).ok());
    contents.push_back(content(store));
  }
  return contents;
}

// Written without fsync: these files need not survive anything, and there are many of them.
void overwrite(const std::string& path, std::span<const std::byte> bytes) {
  FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  REQUIRE(std::fclose(file) == 0);
}

Result<StoreContent> load(const std::string& directory) {
  ENGRAM_ASSIGN(const LoadedStore store, load_store(StorePaths(directory), LoadCheck::none));
  return content(store.learner, store.mark.sequence);
}

// Where each record of a journal ends.
std::vector<std::size_t> record_ends(std::span<const std::byte> journal) {
  const JournalScan scan = scan_journal(journal, "journal").value();
  std::vector<std::size_t> ends;
  for (const JournalRecord& record : scan.records) {
    const std::byte* end = record.payload.data() + record.payload.size();
    ends.push_back(std::size_t(end - journal.data()) + journal_layout::kRecordTrailerBytes);
  }
  return ends;
}

}  // namespace

TEST_CASE("every flipped bit of a state is found", "[engine][store][flip]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const StoreContent whole = make_store(directory.path()).back();
  int flips = 0;
  for (const std::string name : {"journal", "readout", "snapshot"}) {
    const std::string path = directory / name;
    const std::vector<std::byte> good = read_file(path, 1 << 20).value();
    // The parser finds every single bit; it is the same that the store uses.
    std::vector<std::byte> file = good;
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      file[bit / 8] ^= std::byte(1 << bit % 8);
      const Status status = name == "journal" ? scan_journal(file, name).status()
                                              : SnapshotReader::parse(file, name).status();
      if (status.code() != Code::bad_data) FAIL(name << ": bit " << bit << " goes unseen");
      file[bit / 8] ^= std::byte(1 << bit % 8);
      ++flips;
    }
    // And through the whole store, a bit of every 11th byte: load, read and verify all see it.
    for (std::size_t at = 0; at < file.size(); at += 11) {
      INFO(name << ", byte " << at);
      file[at] ^= std::byte(1 << at % 8);
      overwrite(path, file);
      const VerifyReport report = verify_store(directory.path()).value();
      REQUIRE_FALSE(report.ok);
      REQUIRE_FALSE(report.findings.empty());
      if (name == "readout") {
        REQUIRE(read_readout(directory.path()).status().code() == Code::bad_data);
        REQUIRE(load(directory.path()).value() == whole);  // solved again
      } else {
        const Status status = Store::open(directory.path()).status();
        REQUIRE(status.code() == Code::bad_data);
        REQUIRE(test::says(status, "engram verify"));
      }
      file[at] ^= std::byte(1 << at % 8);
    }
    overwrite(path, good);
    REQUIRE(verify_store(directory.path())->ok);
  }
  REQUIRE(flips > 40'000);
}

TEST_CASE("a snapshot cut at any byte is refused, a readout is solved again",
          "[engine][store][cut]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const StoreContent whole = make_store(directory.path()).back();
  for (const std::string name : {"readout", "snapshot"}) {
    const std::string path = directory / name;
    const std::vector<std::byte> good = read_file(path, 1 << 20).value();
    for (std::size_t size = 0; size < good.size(); size += std::size_t(test::every())) {
      INFO(name << " cut to " << size << " bytes");
      overwrite(path, std::span(good).first(size));
      const Result<StoreContent> left = load(directory.path());
      if (name == "snapshot") {
        REQUIRE(left.status().code() == Code::bad_data);
      } else {
        REQUIRE(read_readout(directory.path()).status().code() == Code::bad_data);
        REQUIRE(left.ok());
        REQUIRE(left.value() == whole);
      }
    }
    overwrite(path, good);
  }
}

TEST_CASE("a journal cut at any byte has its whole records, or is refused",
          "[engine][store][cut]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::vector<StoreContent> contents = make_store(directory.path());
  const std::vector<std::byte> good = read_file(directory / "journal", 1 << 20).value();
  const std::vector<std::size_t> ends = record_ends(good);
  REQUIRE(ends.size() + 1 == contents.size());
  REQUIRE(ends.back() == good.size());
  const std::size_t ended = 2;  // the record that the readout knows, the end of a task
  for (std::size_t size = 0; size <= good.size(); ++size) {
    INFO("journal cut to " << size << " bytes");
    overwrite(directory / "journal", std::span(good).first(size));
    const auto whole =
        std::size_t(std::ranges::count_if(ends, [&](std::size_t end) { return end <= size; }));
    const Result<StoreContent> left = load(directory.path());
    if (whole < ended) {  // never a state that forgot what the readout knows
      REQUIRE(left.status().code() == Code::bad_data);
    } else {  // a write that was cut off: what was acknowledged before it, all of it
      REQUIRE(left.ok());
      REQUIRE(left.value() == contents[whole]);
    }
  }
}

}  // namespace engram
