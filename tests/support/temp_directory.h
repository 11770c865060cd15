// A directory of its own for one test; removed with everything in it when the test ends.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "platform/status.h"

namespace engram::test {

class TempDirectory {
 public:
  // memory: where the system has such a place, for tests that make thousands of files.
  enum class Where { disk, memory };
  explicit TempDirectory(Where where = Where::disk) {
    const bool memory = where == Where::memory && ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent =
        memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (parent / "engram-test-XXXXXX").string();
    ENGRAM_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace engram::test
