#include "engine/journal.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "engine/byte_io.h"
#include "engine/journal_layout.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

using test::Call;
using test::FaultFiles;
using test::TempDirectory;

namespace {

constexpr JournalHeader kHeader{.state = 77, .base = 40};
const std::vector<std::string> kTexts = {"first", "", "a third, longer record"};

std::vector<std::byte> bytes_of(const std::string& path) {
  return read_file(path, 1 << 20).value();
}

Result<Journal> open_journal(const std::string& path, FileSystem& files = real_files()) {
  const std::vector<std::byte> file = bytes_of(path);
  ENGRAM_ASSIGN(const JournalScan scan, scan_journal(file, path));
  return Journal::open(path, scan, files);
}

// The payloads in the file, or "damaged".
std::vector<std::string> texts(std::span<const std::byte> file) {
  const Result<JournalScan> scan = scan_journal(file, "journal");
  if (!scan.ok()) return {"damaged"};
  std::vector<std::string> result;
  for (const JournalRecord& record : scan->records) {
    REQUIRE(record.sequence == kHeader.base + 1 + std::int64_t(result.size()));
    result.push_back(as_text(record.payload));
  }
  return result;
}

std::vector<std::string> texts_of(const std::string& path) {
  return texts(bytes_of(path));
}

void write_journal(const std::string& path) {
  REQUIRE(Journal::create(path, kHeader).ok());
  Journal journal = open_journal(path).value();
  for (const std::string& text : kTexts) REQUIRE(journal.append(1, as_bytes(text)).ok());
}

}  // namespace

TEST_CASE("a journal gives back its records, also over several openings", "[engine][journal]") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  write_journal(path);
  REQUIRE(texts_of(path) == kTexts);
  Journal journal = open_journal(path).value();
  REQUIRE(journal.sequence() == 43);
  REQUIRE(journal.append(9, as_bytes("fourth")).ok());
  REQUIRE(journal.sequence() == 44);
  REQUIRE(journal.bytes() == std::int64_t(bytes_of(path).size()));
  REQUIRE(journal.take_back().ok());
  REQUIRE(journal.sequence() == 43);
  REQUIRE(journal.append(2, as_bytes("instead")).ok());
  REQUIRE(texts_of(path).back() == "instead");
  const std::vector<std::byte> file = bytes_of(path);
  const JournalScan scan = scan_journal(file, path).value();
  REQUIRE(scan.header.state == 77);
  REQUIRE(scan.records.back().kind == 2);
  REQUIRE(scan.torn == 0);
}

TEST_CASE("a journal cut at any byte is a torn tail behind whole records", "[engine][journal]") {
  const TempDirectory directory;
  write_journal(directory / "journal");
  const std::vector<std::byte> file = bytes_of(directory / "journal");
  std::size_t longest = 0;
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::vector<std::string> left = texts(std::span(file).first(size));
    if (size < journal_layout::kHeaderBytes) {
      REQUIRE(left == std::vector<std::string>{"damaged"});
      continue;
    }
    REQUIRE(left.size() < kTexts.size());
    REQUIRE(std::equal(left.begin(), left.end(), kTexts.begin()));
    REQUIRE(left.size() >= longest);
    longest = left.size();
  }
  REQUIRE(longest == kTexts.size() - 1);
}

TEST_CASE("opening cuts a torn tail off", "[engine][journal]") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  write_journal(path);
  const std::size_t whole = bytes_of(path).size();
  std::filesystem::resize_file(path, whole - 1);
  Journal journal = open_journal(path).value();
  REQUIRE(journal.sequence() == 42);
  REQUIRE(bytes_of(path).size() == std::size_t(journal.bytes()));
  REQUIRE(journal.append(1, as_bytes("again")).ok());
  REQUIRE(texts_of(path) == std::vector<std::string>{kTexts[0], kTexts[1], "again"});
}

TEST_CASE("space that was never written is a torn tail", "[engine][journal]") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  write_journal(path);
  std::filesystem::resize_file(path, bytes_of(path).size() + 5000);
  REQUIRE(texts_of(path) == kTexts);
}

TEST_CASE("every flipped bit of a journal is damage, also in the last record",
          "[engine][journal][flip]") {
  const TempDirectory directory;
  write_journal(directory / "journal");
  std::vector<std::byte> file = bytes_of(directory / "journal");
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    file[bit / 8] ^= std::byte(1 << bit % 8);
    const Result<JournalScan> scan = scan_journal(file, "journal");
    if (scan.status().code() != Code::bad_data) FAIL("bit " << bit << " goes unseen");
    if (bit >= 8 * journal_layout::kHeaderBytes) {
      if (!test::says(scan.status(), "record 4")) FAIL("bit " << bit << ": which record?");
    }
    file[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

TEST_CASE("a record in the wrong place is damage", "[engine][journal]") {
  const TempDirectory directory;
  write_journal(directory / "journal");
  std::vector<std::byte> file = bytes_of(directory / "journal");
  const JournalScan scan = scan_journal(file, "journal").value();
  const std::size_t last_bytes = 24 + scan.records[2].payload.size() + 8;
  const std::vector<std::byte> last(file.end() - std::ptrdiff_t(last_bytes), file.end());
  file.insert(file.end(), last.begin(), last.end());  // the last record a second time
  REQUIRE(test::says(scan_journal(file, "journal").status(), "number of another record"));
}

TEST_CASE("a journal of a newer version is told from a damaged one", "[engine][journal]") {
  using namespace journal_layout;
  const TempDirectory directory;
  write_journal(directory / "journal");
  std::vector<std::byte> file = bytes_of(directory / "journal");
  const auto with_version = [&](std::uint8_t version) {
    file[8] = std::byte{version};
    const std::uint64_t sum = checksum64(std::span(file).first(kHeaderChecksumAt));
    std::memcpy(file.data() + kHeaderChecksumAt, &sum, sizeof(sum));
    return scan_journal(file, "journal").status();
  };
  REQUIRE(with_version(1).ok());
  REQUIRE(with_version(2).code() == Code::not_supported);
  REQUIRE(test::says(with_version(2), "newer version"));
  REQUIRE(with_version(0).code() == Code::bad_data);
  REQUIRE(test::says(with_version(0), "impossible format"));
}

TEST_CASE("a failed append is absent, and the journal goes on", "[engine][journal][fault]") {
  for (const int error : {EIO, ENOSPC, EROFS}) {
    for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::full_after}) {
      for (int at = 2; at <= 3; ++at) {  // 0 and 1 are of opening; then write, fsync
        const TempDirectory directory;
        const std::string path = directory / "journal";
        write_journal(path);
        FaultFiles files(fault, at, error);
        {
          Journal journal = open_journal(path, files).value();
          const Status status = journal.append(1, as_bytes("a record that fails"));
          if (fault == FaultFiles::Fault::full_after && at == 3) {  // no further write to fail
            REQUIRE(status.ok());
            REQUIRE_FALSE(journal.append(1, as_bytes("another one")).ok());
            REQUIRE(journal.take_back().ok());
          } else {
            REQUIRE(status.code() == Code::io_failure);
            REQUIRE(test::says(status, std::strerror(error)));
            REQUIRE(test::says(status, "as it was before this write"));
          }
          REQUIRE(journal.usable());
          REQUIRE(journal.sequence() == 43);
        }
        REQUIRE(texts_of(path) == kTexts);
        REQUIRE(bytes_of(path).size() == scan_journal(bytes_of(path), path)->end);
      }
    }
  }
}

TEST_CASE("an append that can be neither done nor undone ends the writing",
          "[engine][journal][fault]") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  write_journal(path);
  // Opening (0, 1) and the write work; fsync and all else fail.
  FaultFiles files(FaultFiles::Fault::fail_after, 3);
  Journal journal = open_journal(path, files).value();
  REQUIRE(test::says(journal.append(1, as_bytes("lost or not")), "could not be undone"));
  REQUIRE_FALSE(journal.usable());
  REQUIRE(test::says(journal.append(1, as_bytes("refused")), "nothing more is written"));
}

TEST_CASE("a journal takes no more than can be opened again", "[engine][journal]") {
  const TempDirectory directory(TempDirectory::Where::memory);
  const std::string path = directory / "journal";
  write_journal(path);
  const std::string text = "the last that fits";
  // Space that takes no room on the disk, as if full of records.
  JournalScan scan{.header = kHeader, .records = {}};
  scan.end = kMaxJournalBytes - (24 + text.size() + 8);
  std::filesystem::resize_file(path, scan.end);
  Journal journal = Journal::open(path, scan).value();
  REQUIRE_FALSE(journal.has_room(text.size() + 1));
  REQUIRE(test::says(journal.append(1, as_bytes(text + "!")), "is full"));
  REQUIRE(std::filesystem::file_size(path) == scan.end);
  REQUIRE(journal.has_room(text.size()));
  REQUIRE(journal.append(1, as_bytes(text)).ok());
  REQUIRE(std::filesystem::file_size(path) == kMaxJournalBytes);
  REQUIRE_FALSE(journal.has_room(0));
  REQUIRE(journal.append(1, {}).code() == Code::io_failure);
  REQUIRE(journal.usable());
  REQUIRE(journal.start_over().ok());
  REQUIRE(journal.append(1, as_bytes("room again")).ok());
}

TEST_CASE("a journal that cannot be made sure is not opened", "[engine][journal][fault]") {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  write_journal(path);
  FaultFiles files(FaultFiles::Fault::fail_once, 1);
  REQUIRE(test::says(open_journal(path, files).status(), "fsync failed"));
  REQUIRE(files.log()[1] == Call::fsync);
}

TEST_CASE("a journal started over goes on, unless its name is not sure",
          "[engine][journal][fault]") {
  // 0 and 1 are of opening.
  constexpr Call kStartOver[] = {Call::open,  Call::write, Call::fsync, Call::rename,
                                 Call::close, Call::open,  Call::fsync};
  for (int step = 0; step < int(std::size(kStartOver)); ++step) {
    INFO("step " << step << " (" << test::name(kStartOver[step]) << ")");
    const TempDirectory directory;
    const std::string path = directory / "journal";
    write_journal(path);
    FaultFiles files(FaultFiles::Fault::fail_once, 2 + step);
    Journal journal = open_journal(path, files).value();
    const Status status = journal.start_over();
    REQUIRE(files.log()[std::size_t(2 + step)] == kStartOver[step]);
    const Status next = journal.append(1, as_bytes("next"));
    if (step < 4) {  // the old journal stays in use
      REQUIRE(status.code() == Code::io_failure);
      REQUIRE(next.ok());
      REQUIRE(texts_of(path).size() == kTexts.size() + 1);
    } else if (step == 4) {  // the old file, of which nothing is needed any more
      REQUIRE(status.ok());
      REQUIRE(next.ok());
      REQUIRE(scan_journal(bytes_of(path), path)->sequence() == 44);
    } else {  // a power cut could bring the old name back, without what would be appended
      REQUIRE(status.code() == Code::io_failure);
      REQUIRE_FALSE(journal.usable());
      REQUIRE(test::says(next, "nothing more is written"));
    }
  }
}

}  // namespace engram
