// What lies beside the journal on disk: readouts that are made again, files that are missing, mixed, old
// or newer than this program.
#include "engine/store.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "engine/journal.h"
#include "engine/store_files.h"
#include "platform/hash.h"
#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/temp_directory.h"

namespace engram {

using test::content;
using test::reopened;
using test::says;
using test::small_batch;
using test::small_config;
using test::small_store;
using test::StoreContent;
using test::TempDirectory;

TEST_CASE("a readout that is missing, stale or broken is made again", "[engine][store]") {
  const TempDirectory directory;
  const std::string path = directory / "readout";
  const bool compacted = GENERATE(false, true);
  StoreContent before;
  {
    Store store = small_store(directory.path(), 2);
    REQUIRE(store.end_task().ok());
    std::filesystem::copy_file(path, directory / "stale");
    REQUIRE(store.learn(small_batch(2)).ok());
    REQUIRE(store.end_task().ok());
    REQUIRE(store.learn(small_batch(3)).ok());
    if (compacted) REQUIRE(store.compact().ok());
    before = content(store);
  }
  const std::string how = GENERATE("missing", "stale", "broken");
  std::filesystem::remove(path);
  if (how == "stale") std::filesystem::rename(directory / "stale", path);
  if (how == "broken") REQUIRE(replace_file(path, std::as_bytes(std::span("no readout"))).ok());
  const std::string command = "engram learn --end-task --state " + directory.path();
  if (how != "stale") {
    const Status status = read_readout(directory.path()).status();
    REQUIRE(says(status, command + "` makes it again"));
    REQUIRE_FALSE(says(status, "Restore"));  // nothing that is not elsewhere was lost
  }
  const std::vector<std::string> findings = verify_store(directory.path())->findings;
  REQUIRE(findings.size() == 1);
  REQUIRE(says(findings.front(), command));
  REQUIRE_FALSE(says(findings.front(), "Restore"));
  REQUIRE(verify_store(directory.path())->ok == (how != "broken"));
  {
    const Store store = Store::open(directory.path()).value();
    REQUIRE(says(store.recovery_note(), "made again"));
    REQUIRE(content(store) == before);
  }
  REQUIRE(read_readout(directory.path())->readout.weights == before.weights);
  REQUIRE_FALSE(before.feature_weights.empty());
  REQUIRE(read_readout(directory.path())->readout.feature_weights == before.feature_weights);
  REQUIRE(read_readout(directory.path())->sequence == 5);
  REQUIRE(verify_store(directory.path())->findings.empty());
}

TEST_CASE("a state into which nothing came can be taken away again", "[engine][store]") {
  const TempDirectory directory;
  {
    Store store = Store::create(directory.path(), small_config()).value();
    REQUIRE(store.discard().ok());
    REQUIRE_FALSE(Store::exists(directory.path()));
    REQUIRE(store.learn(small_batch(1)).code() == Code::io_failure);
  }
  REQUIRE_FALSE(Store::exists(directory.path()));
  LearnerConfig other = small_config();
  other.seed += 1;
  Store store = Store::create(directory.path(), other).value();
  REQUIRE(store.learn(small_batch(1)).ok());
  REQUIRE(store.discard().code() == Code::invalid_argument);
  REQUIRE(Store::exists(directory.path()));
}

TEST_CASE("a file called journal that is none of ours stays as it is", "[engine][store]") {
  using namespace std::string_literals;
  const TempDirectory directory;
  for (const std::string& mine : {"mine\n"s, "\nENGRAMJ"s, "ENGRAM diary"s, std::string(64, 'x')}) {
    INFO(mine);
    const auto bytes = std::as_bytes(std::span(mine));
    REQUIRE(replace_file(directory / "journal", bytes).ok());
    const Status status = Store::create(directory.path(), small_config()).status();
    REQUIRE(status.code() == Code::invalid_argument);
    REQUIRE(says(status, "Nothing was changed"));
    REQUIRE_FALSE(Store::exists(directory.path()));
    REQUIRE_FALSE(std::filesystem::exists(directory / "lock"));
    REQUIRE(std::ranges::equal(read_file(directory / "journal", 64).value(), bytes));
  }
  // What a create that was cut off may leave: less than a header, and zeros where it did not get to.
  const std::string header = [&] {
    const TempDirectory other;
    (void)Store::create(other.path(), small_config()).value();
    const std::vector<std::byte> bytes = read_file(other / "journal", 64).value();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }();
  for (std::size_t size = 0; size <= header.size(); ++size) {
    for (const std::size_t zeros : {std::size_t{0}, header.size() - size}) {
      INFO(size << " bytes of a header, then " << zeros << " zeros");
      const TempDirectory own(TempDirectory::Where::memory);
      const std::string torn = header.substr(0, size) + std::string(zeros, '\0');
      REQUIRE(replace_file(own / "journal", std::as_bytes(std::span(torn))).ok());
      REQUIRE_FALSE(Store::exists(own.path()));
      REQUIRE(Store::create(own.path(), small_config()).ok());
    }
  }
}

TEST_CASE("a made-up readout is refused", "[engine][store]") {
  const TempDirectory directory;
  { REQUIRE(small_store(directory.path(), 2).end_task().ok()); }
  const StorePaths paths(directory.path());
  const ReadoutFile file = load_readout(paths).value();
  LearnerConfig config = file.config;
  Readout readout = *file.readout;
  const auto write = [&] {
    SnapshotWriter writer = SnapshotWriter::create(paths.readout).value();
    REQUIRE(write_readout(writer, file.mark, config, readout).ok());
    REQUIRE(writer.commit().ok());
  };
  SECTION("without classes") {
    readout.classes.clear();
    readout.weights.clear();
    write();
    REQUIRE(says(read_readout(directory.path()).status(), "'readout' makes no sense"));
  }
  SECTION("with a class twice") {
    REQUIRE(readout.classes.size() > 1);
    readout.classes[1] = readout.classes[0];
    write();
    REQUIRE(says(read_readout(directory.path()).status(), "'classes' makes no sense"));
  }
  SECTION("with weights that are no numbers") {
    readout.weights.back() = std::numeric_limits<float>::quiet_NaN();
    write();
    REQUIRE(says(read_readout(directory.path()).status(), "'weights' makes no sense"));
  }
  SECTION("with weights of more features than there are") {
    readout.feature_weights.push_back(0.5F);
    write();
    REQUIRE(says(read_readout(directory.path()).status(), "'feature_weights' makes no sense"));
  }
  SECTION("with a lambda that is none") {
    readout.lambda = 0;
    write();
    REQUIRE(says(read_readout(directory.path()).status(), "'readout' makes no sense"));
  }
  SECTION("of another config") {
    config.lambda *= 2;
    write();
    REQUIRE(says(Store::open(directory.path()).status(), "another config"));
    REQUIRE_FALSE(verify_store(directory.path())->ok);
  }
}

TEST_CASE("opening removes what a killed process had begun to write", "[engine][store]") {
  const TempDirectory directory;
  { REQUIRE(small_store(directory.path(), 2).end_task().ok()); }
  const StoreContent before = reopened(directory.path()).value();
  const std::string names[] = {"snapshot.new", "journal.new", "readout.new"};
  for (const std::string& name : names) {
    std::filesystem::copy_file(directory / "snapshot", directory / name);
  }
  REQUIRE(reopened(directory.path()).value() == before);
  for (const std::string& name : names) REQUIRE_FALSE(std::filesystem::exists(directory / name));
}

TEST_CASE("files of two states are not mixed", "[engine][store]") {
  const TempDirectory directory;
  for (const std::string name : {"a", "b"}) {
    Store store = small_store(directory / name, 2);
    REQUIRE(store.end_task().ok());
  }
  const std::string file = GENERATE("snapshot", "journal", "readout");
  std::filesystem::copy_file(directory / "a/" + file, directory / "b/" + file,
                             std::filesystem::copy_options::overwrite_existing);
  const auto store = Store::open(directory / "b");
  REQUIRE(store.status().code() == Code::bad_data);
  REQUIRE(says(store.status(), "another state"));
  REQUIRE_FALSE(verify_store(directory / "b")->ok);
}

TEST_CASE("a missing file is damage, never a fresh start", "[engine][store]") {
  const TempDirectory directory;
  { REQUIRE(small_store(directory.path(), 2).sequence() == 2); }
  const std::string file = GENERATE("snapshot", "journal");
  std::filesystem::remove(directory / file);
  REQUIRE(Store::exists(directory.path()));
  const auto store = Store::open(directory.path());
  REQUIRE(store.status().code() == Code::bad_data);
  REQUIRE(says(store.status(), file + " is missing"));
  REQUIRE(Store::create(directory.path(), small_config()).status().code() ==
          Code::invalid_argument);
  REQUIRE_FALSE(verify_store(directory.path())->ok);
}

TEST_CASE("a journal that lost acknowledged events is found out", "[engine][store]") {
  const TempDirectory directory;
  {
    Store store = small_store(directory.path(), 2);
    REQUIRE(store.end_task().ok());
  }
  // The readout knows event 3, the end of the task; cut that record off as a crash never would.
  std::filesystem::resize_file(directory / "journal",
                               std::filesystem::file_size(directory / "journal") - 1);
  REQUIRE(says(Store::open(directory.path()).status(), "its end was lost"));
}

TEST_CASE("a state of a newer version is left alone", "[engine][store]") {
  const TempDirectory directory;
  {
    Store store = small_store(directory.path(), 2);
    REQUIRE(store.end_task().ok());
  }
  const std::string file = GENERATE("snapshot", "journal", "readout");
  std::vector<std::byte> bytes = read_file(directory / file, 1 << 20).value();
  bytes[8] = std::byte{9};  // the version, which the header's checksum covers
  const std::size_t checksum_at = file == "journal" ? 56 : 1016;
  const std::uint64_t sum = checksum64(std::span(bytes).first(checksum_at));
  std::memcpy(bytes.data() + checksum_at, &sum, sizeof(sum));
  REQUIRE(replace_file(directory / file, bytes).ok());
  const Status status = Store::open(directory.path()).status();
  REQUIRE(status.code() == Code::not_supported);
  REQUIRE(says(status, "newer version"));
  const Status verified = verify_store(directory.path()).status();
  REQUIRE(verified.code() == Code::not_supported);  // which is no damage
  REQUIRE(says(verified, "newer version"));
  if (file == "readout") {
    REQUIRE(read_readout(directory.path()).status().code() == Code::not_supported);
  }
  REQUIRE(read_file(directory / file, 1 << 20).value() == bytes);
}

TEST_CASE("an older journal behind a newer snapshot is skipped or refused", "[engine][store]") {
  const TempDirectory directory;
  const std::string journal = directory / "journal";
  StoreContent before;
  {
    Store store = small_store(directory.path(), 3);
    std::filesystem::copy_file(journal, directory / "old");
    REQUIRE(store.compact().ok());
    before = content(store);
  }
  SECTION("compaction was cut off between its two steps") {
    std::filesystem::rename(directory / "old", journal);
    {
      Store store = Store::open(directory.path()).value();
      REQUIRE(says(store.recovery_note(), "compaction"));
      REQUIRE(content(store) == before);
      REQUIRE(store.learn(small_batch(3)).ok());
      REQUIRE(store.sequence() == 4);
      before = content(store);
    }
    REQUIRE(reopened(directory.path()).value() == before);
  }
  SECTION("the snapshot is the old one") {
    const TempDirectory other;
    { REQUIRE(small_store(other.path(), 0).sequence() == 0); }
    const auto mark = read_mark(SnapshotReader::open(directory / "snapshot").value()).value();
    REQUIRE(Journal::create(journal, {mark.state, mark.sequence + 1}).ok());
    REQUIRE(says(Store::open(directory.path()).status(), "what lies between is missing"));
  }
}

}  // namespace engram
