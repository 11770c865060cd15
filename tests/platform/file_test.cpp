#include "platform/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/fault_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {

using test::FaultFiles;
using test::TempDirectory;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path, 1 << 20).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("read_file reads whole files and refuses what is none", "[platform][file]") {
  const TempDirectory directory;
  REQUIRE(replace_file(directory / "a", bytes_of("hello")).ok());
  REQUIRE(text_of(directory / "a") == "hello");
  REQUIRE(read_file(directory / "a", 5).ok());
  REQUIRE(read_file(directory / "a", 4).status().code() == Code::bad_data);
  REQUIRE(read_file(directory / "b", 4).status().code() == Code::not_found);
  REQUIRE(read_file(directory / "a/b", 4).status().code() == Code::not_found);
  REQUIRE(read_file(directory.path(), 4).status().code() == Code::bad_data);
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  REQUIRE(read_file(directory / "fifo", 4).status().code() == Code::bad_data);  // does not wait
}

TEST_CASE("replace_file: any failing call leaves the old content or the new, whole",
          "[platform][file][fault]") {
  const std::string old_text = "old";
  const std::string new_text(100'000, 'n');
  FaultFiles counter;
  {
    const TempDirectory directory;
    REQUIRE(replace_file(directory / "a", bytes_of(new_text), counter).ok());
  }
  for (const auto fault : {FaultFiles::Fault::fail_once, FaultFiles::Fault::fail_after,
                           FaultFiles::Fault::full_after}) {
    for (int at = 0; at < counter.calls(); ++at) {
      const TempDirectory directory;
      REQUIRE(replace_file(directory / "a", bytes_of(old_text)).ok());
      FaultFiles files(fault, at, ENOSPC);
      const Status status = replace_file(directory / "a", bytes_of(new_text), files);
      INFO("call " << at << " (" << test::name(counter.log()[at]) << ")");
      if (status.ok()) {
        REQUIRE(text_of(directory / "a") == new_text);
        continue;
      }
      REQUIRE(status.code() == Code::io_failure);
      REQUIRE(test::says(status, "No space left on device"));
      const bool renamed = std::ranges::count(files.log(), test::Call::rename) != 0 &&
                           files.log()[at] != test::Call::rename;
      REQUIRE(text_of(directory / "a") == (renamed ? new_text : old_text));
    }
  }
}

TEST_CASE("write_fully goes on after short writes", "[platform][file]") {
  struct ShortWrites : FileSystem {
    int calls = 0;
    ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) override {
      if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
      }
      return FileSystem::pwrite(file, bytes, std::min<std::size_t>(count, 2), offset);
    }
  } files;
  const TempDirectory directory;
  REQUIRE(replace_file(directory / "a", bytes_of("a text of some length"), files).ok());
  REQUIRE(text_of(directory / "a") == "a text of some length");
  REQUIRE(files.calls > 11);
}

TEST_CASE("make_directories makes all of them and may be repeated", "[platform][file]") {
  const TempDirectory directory;
  REQUIRE(make_directories(directory / "a/b//c/").ok());
  REQUIRE(make_directories(directory / "a/b/c").ok());
  REQUIRE(std::filesystem::is_directory(directory / "a/b/c"));
  REQUIRE(replace_file(directory / "file", bytes_of("x")).ok());
  const Status refused = make_directories(directory / "file/d");
  REQUIRE(refused.code() == Code::io_failure);
  REQUIRE(test::says(refused, "Nothing was written there"));
  REQUIRE(make_directories("").code() == Code::invalid_argument);
}

TEST_CASE("MappedFile shows the bytes, also of an empty file", "[platform][file]") {
  const TempDirectory directory;
  REQUIRE(replace_file(directory / "a", bytes_of("mapped")).ok());
  REQUIRE(replace_file(directory / "empty", {}).ok());
  MappedFile map = MappedFile::open(directory / "a").value();
  REQUIRE(std::string(reinterpret_cast<const char*>(map.bytes().data()), map.bytes().size()) ==
          "mapped");
  map = MappedFile::open(directory / "empty").value();
  REQUIRE(map.bytes().empty());
  REQUIRE(MappedFile::open(directory / "absent").status().code() == Code::not_found);
  REQUIRE(MappedFile::open(directory.path()).status().code() == Code::bad_data);
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  REQUIRE(MappedFile::open(directory / "fifo").status().code() == Code::bad_data);  // does not wait
}

TEST_CASE("FileLock has one holder", "[platform][file]") {
  const TempDirectory directory;
  {
    const FileLock lock = FileLock::acquire(directory / "lock").value();
    const auto second = FileLock::acquire(directory / "lock");
    REQUIRE(second.status().code() == Code::busy);
    REQUIRE(test::says(second.status(), "another process"));
  }
  REQUIRE(FileLock::acquire(directory / "lock").ok());
  REQUIRE(FileLock::acquire(directory / "absent/lock").status().code() == Code::io_failure);
}

}  // namespace engram
