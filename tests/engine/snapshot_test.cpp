#include "engine/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/byte_io.h"
#include "engine/snapshot_layout.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

using test::FaultFiles;
using test::TempDirectory;

namespace {

Status write_sample(const std::string& path, const std::string& text, FileSystem& files) {
  ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(path, files));
  ENGRAM_TRY(writer.begin_section("first"));
  ENGRAM_TRY(writer.write(as_bytes(text.substr(0, 3))));
  ENGRAM_TRY(writer.write(as_bytes(text.substr(3))));
  ENGRAM_TRY(writer.begin_section("empty"));
  ENGRAM_TRY(writer.begin_section("last"));
  ENGRAM_TRY(writer.write(as_bytes("end")));
  return writer.commit();
}

std::string first_section(const std::string& path) {
  const SnapshotReader reader = SnapshotReader::open(path).value();
  return as_text(reader.section("first").value());
}

std::vector<std::byte> sample_bytes() {
  const TempDirectory directory;
  REQUIRE(write_sample(directory / "s", "some text", real_files()).ok());
  return read_file(directory / "s", 1 << 20).value();
}

void seal(std::vector<std::byte>& file) {
  using namespace snapshot_layout;
  const std::uint64_t sum = checksum64(std::span(file).first(kChecksumAt));
  std::memcpy(file.data() + kChecksumAt, &sum, sizeof(sum));
}

}  // namespace

TEST_CASE("a snapshot gives back its sections", "[engine][snapshot]") {
  const TempDirectory directory;
  REQUIRE(write_sample(directory / "s", "some text", real_files()).ok());
  const SnapshotReader reader = SnapshotReader::open(directory / "s").value();
  REQUIRE(as_text(reader.section("first").value()) == "some text");
  REQUIRE(reader.section("empty").value().empty());
  REQUIRE(as_text(reader.section("last").value()) == "end");
  REQUIRE(reader.has("last"));
  REQUIRE_FALSE(reader.has("las"));
  REQUIRE(reader.section("absent").status().code() == Code::bad_data);
  REQUIRE(std::uintptr_t(reader.section("last").value().data()) % 64 == 0);
  REQUIRE_FALSE(std::filesystem::exists(directory / "s.new"));
  REQUIRE(SnapshotReader::open(directory / "t").status().code() == Code::not_found);
}

TEST_CASE("a snapshot without commit leaves nothing", "[engine][snapshot]") {
  const TempDirectory directory;
  {
    SnapshotWriter writer = SnapshotWriter::create(directory / "s").value();
    REQUIRE(writer.begin_section("first").ok());
    REQUIRE(writer.finish().ok());
  }
  REQUIRE(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("every cut and every flipped bit of a snapshot is found", "[engine][snapshot][flip]") {
  std::vector<std::byte> file = sample_bytes();
  REQUIRE(SnapshotReader::parse(file, "file").ok());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto cut = SnapshotReader::parse(std::span(file).first(size), "file");
    REQUIRE(cut.status().code() == Code::bad_data);
  }
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    file[bit / 8] ^= std::byte(1 << bit % 8);
    const auto flipped = SnapshotReader::parse(file, "file");
    if (flipped.status().code() != Code::bad_data) FAIL("bit " << bit << " goes unseen");
    file[bit / 8] ^= std::byte(1 << bit % 8);
  }
  file.push_back({});
  REQUIRE(SnapshotReader::parse(file, "file").status().code() == Code::bad_data);
}

TEST_CASE("a snapshot of a newer version is told from a damaged one", "[engine][snapshot]") {
  std::vector<std::byte> file = sample_bytes();
  file[8] = std::byte{1};  // an earlier one is read
  seal(file);
  REQUIRE(SnapshotReader::parse(file, "file").ok());
  file[8] = std::byte{3};
  seal(file);
  const Status status = SnapshotReader::parse(file, "file").status();
  REQUIRE(status.code() == Code::not_supported);
  REQUIRE(test::says(status, "newer version"));
  file[8] = std::byte{0};  // none ever had that
  seal(file);
  const Status impossible = SnapshotReader::parse(file, "file").status();
  REQUIRE(impossible.code() == Code::bad_data);
  REQUIRE(test::says(impossible, "impossible format"));
}

TEST_CASE("a well-sealed but impossible table is refused", "[engine][snapshot]") {
  const std::vector<std::byte> good = sample_bytes();
  const auto with = [&](std::size_t at, std::uint64_t value) {
    std::vector<std::byte> file = good;
    std::memcpy(file.data() + at, &value, sizeof(value));
    seal(file);
    return SnapshotReader::parse(file, "file").status().code();
  };
  const std::size_t entry = 24;  // offset +16, bytes +24
  REQUIRE(with(entry + 16, 0) == Code::bad_data);
  REQUIRE(with(entry + 16, ~std::uint64_t{0}) == Code::bad_data);
  REQUIRE(with(entry + 24, ~std::uint64_t{0}) == Code::bad_data);
  REQUIRE(with(entry + 24, good.size()) == Code::bad_data);
  REQUIRE(with(entry, 0) == Code::bad_data);                          // a name of nothing
  REQUIRE(with(8, (std::uint64_t{25} << 32) | 1) == Code::bad_data);  // too many sections
  REQUIRE(with(8, (std::uint64_t{2} << 32) | 1) == Code::bad_data);   // one section unnamed
  REQUIRE(with(1000, 1) == Code::bad_data);                           // something behind the table
  std::uint64_t same_name = 0;
  std::memcpy(&same_name, good.data() + entry, sizeof(same_name));
  REQUIRE(with(entry + 40, same_name) == Code::bad_data);  // "first" twice
}

TEST_CASE("a snapshot survives any failing call as the old one or the new one",
          "[engine][snapshot][fault]") {
  FaultFiles counter;
  {
    const TempDirectory directory;
    REQUIRE(write_sample(directory / "s", "new text", counter).ok());
  }
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); ++at) {
      const TempDirectory directory;
      REQUIRE(write_sample(directory / "s", "old text", real_files()).ok());
      FaultFiles files(fault, at, EROFS);
      const Status status = write_sample(directory / "s", "new text", files);
      const bool renamed = std::ranges::count(files.log(), test::Call::rename) != 0 &&
                           !(files.struck() && files.log()[at] == test::Call::rename);
      INFO("call " << at << " (" << test::name(counter.log()[at]) << "): " << status.what());
      if (status.ok()) REQUIRE(renamed);
      REQUIRE(first_section(directory / "s") == (renamed ? "new text" : "old text"));
      // The next attempt works, whatever the failed one left behind.
      REQUIRE(write_sample(directory / "s", "third text", real_files()).ok());
      REQUIRE(first_section(directory / "s") == "third text");
    }
  }
}

TEST_CASE("a power cut at any call leaves the old snapshot or the new one",
          "[engine][snapshot][power]") {
  using Names = test::PowerCutFiles::Names;
  using Contents = test::PowerCutFiles::Contents;
  for (const auto names : {Names::synced, Names::latest}) {
    for (const auto contents : {Contents::synced, Contents::latest, Contents::torn}) {
      for (int at = 0;; ++at) {
        const TempDirectory directory;
        REQUIRE(write_sample(directory / "s", "old text", real_files()).ok());
        test::PowerCutFiles files(directory.path(), at);
        const Status status = write_sample(directory / "s", "new text", files);
        const int calls = files.calls();
        files.leave(names, contents, std::uint64_t(at));
        const std::string left = first_section(directory / "s");
        if (status.ok()) REQUIRE(left == "new text");
        REQUIRE((left == "new text" || left == "old text"));
        if (calls <= at) break;
      }
    }
  }
}

}  // namespace engram
