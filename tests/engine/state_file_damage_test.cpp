// Exported files that are broken, or are not what they say; states that do not go together.
#include <cmath>
#include <cstring>
#include <functional>

#include "engine/byte_io.h"
#include "engine/snapshot_layout.h"
#include "engine/state_file.h"
#include "engine/store_merge.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/snapshot_sections.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"
#include "tests/support/two_states.h"

namespace engram {
namespace {

using test::bytes_of;
using test::content;
using test::make_two;
using test::reopened;
using test::says;
using test::small_batch;
using test::small_config;
using test::StoreContent;
using test::TempDirectory;

// The file with other content in one section, as its writer would have sealed it.
std::string with_section(const std::string& file, const std::string& name,
                         const std::function<void(std::vector<std::byte>&)>& change) {
  const SnapshotReader reader = SnapshotReader::open(file).value();
  const std::string changed = file + ".changed";
  SnapshotWriter writer = SnapshotWriter::create(changed).value();
  for (const std::string& section : test::section_names(file)) {
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

// A state that another was merged into, exported: with a section on it.
std::string merged_file(const TempDirectory& directory) {
  make_two(directory);
  Store store = Store::open(directory / "a").value();
  REQUIRE(merge_state_file(store, directory / "b.engram", "a").ok());
  REQUIRE(export_state(store, directory / "merged.engram", "a").ok());
  REQUIRE(SnapshotReader::open(directory / "merged.engram")->has("merged"));
  return directory / "merged.engram";
}

// Of a learner with real numbers, which keeps the hidden units of its samples.
std::string float_file(const TempDirectory& directory) {
  LearnerConfig config = small_config();
  config.arithmetic = Arithmetic::floating;
  Store store = Store::create(directory / "float", config).value();
  SampleBatch batch = small_batch(0);
  ByteWriter rows;
  for (const std::byte value : batch.rows) rows.put(float(std::int8_t(value)) / 8);
  batch.rows = rows.take();
  REQUIRE(store.learn(batch).ok());
  REQUIRE(store.end_task().ok());
  REQUIRE(export_state(store, directory / "float.engram", "").ok());
  REQUIRE(SnapshotReader::open(directory / "float.engram")->has("kept_hidden"));
  return directory / "float.engram";
}

std::string file_of(const TempDirectory& directory, const std::string& kind) {
  if (kind == "merged") return merged_file(directory);
  if (kind == "float") return float_file(directory);
  make_two(directory, /*keep_features=*/kind == "factored");
  return directory / "b.engram";
}

}  // namespace

TEST_CASE("a file that was cut short or has a flipped bit is refused", "[engine][state_file]") {
  for (const std::string kind : {"factored", "dense", "merged", "float"}) {
    INFO(kind);
    const TempDirectory directory(TempDirectory::Where::memory);
    std::vector<std::byte> bytes = bytes_of(file_of(directory, kind));
    REQUIRE(parse_state_file(SnapshotReader::parse(bytes, "file").value()).ok());
    for (std::size_t size = 0; size < bytes.size(); size += std::size_t(test::every())) {
      const Status status = SnapshotReader::parse(std::span(bytes).first(size), "file").status();
      if (status.code() != Code::bad_data) FAIL("cut after " << size);
    }
    // The dense file is large: some of its bits, of every section.
    const std::size_t step = std::size_t(test::every()) * (kind == "dense" ? 37 : 1);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += step) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      const Status status = SnapshotReader::parse(bytes, "file").status();
      if (status.code() != Code::bad_data) FAIL("bit " << bit << ": " << status.what());
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
}

TEST_CASE("sums that no samples can have are refused", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  make_two(directory, /*keep_features=*/false);
  for (const double value : {1e9, -1e9, 0.5}) {
    const std::string file = with_section(directory / "b.engram", "feature_sums", [&](auto& bytes) {
      std::memcpy(bytes.data(), &value, sizeof(value));
    });
    const Status status = read_state_file(file).status();
    CHECK(status.code() == Code::bad_data);
    CHECK(says(status, "feature_sums does not fit"));
  }
}

TEST_CASE("merges that cannot have been are refused", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string good = merged_file(directory);
  const AddedState state = read_state_file(good).value();
  REQUIRE(state.history.merged.size() == 1);  // origin, first and last sample: 8 bytes each
  const auto refused = [&](const std::string& file, const char* why) {
    for (const Status& status :
         {read_state_file(file).status(), import_state(file, directory / "new", "")}) {
      INFO(status.what());
      CHECK(status.code() == Code::bad_data);
      CHECK(says(status, why));
    }
    CHECK_FALSE(Store::exists(directory / "new"));
  };
  const auto crafted = [&](std::size_t at, std::int64_t value, const char* why) {
    INFO("at " << at << ": " << value);
    refused(with_section(good, "merged", [&](auto& content) { put_at(content, at, value); }), why);
  };
  constexpr const char* kImpossible = "'merged' makes no sense";
  crafted(0, std::int64_t(state.mark.state), kImpossible);  // itself, which is no origin of it
  crafted(0, 0, kImpossible);
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    crafted(8, first, kImpossible);
  }
  const MergedState& merged = state.history.merged[0];
  crafted(8, merged.last_id + 1, kImpossible);
  crafted(16, merged.first_id - 1, kImpossible);
  // A range, but of samples that there never were.
  crafted(16, state.learner.last_id() + 1, "make no sense");
  crafted(16, INT64_MAX, "make no sense");
  for (std::size_t size = 1; size < 24; ++size) {
    refused(with_section(good, "merged", [&](auto& content) { content.resize(size); }),
            kImpossible);
  }
  refused(with_section(good, "merged", [](auto& content) { content.push_back({}); }), kImpossible);
}

TEST_CASE("hidden units that no samples can have are refused", "[engine][state_file]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string good = float_file(directory);
  const auto refused = [&](const std::function<void(std::vector<std::byte>&)>& change) {
    const Status status = read_state_file(with_section(good, "kept_hidden", change)).status();
    INFO(status.what());
    CHECK(status.code() == Code::bad_data);
    CHECK(says(status, "kept_hidden"));
  };
  for (const float value : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    refused([&](auto& content) {
      std::memcpy(content.data() + content.size() - sizeof(value), &value, sizeof(value));
    });
  }
  refused([](auto& content) { content.pop_back(); });
  refused([](auto& content) { content.resize(content.size() - sizeof(float)); });
  refused([](auto& content) { content.resize(content.size() + sizeof(float)); });
  refused([](auto& content) { content.clear(); });
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

}  // namespace engram
