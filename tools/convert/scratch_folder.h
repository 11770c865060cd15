// A folder for files on their way; removed with everything in it.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "platform/status.h"

namespace engram {

class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    std::error_code error;
    const auto base = std::filesystem::temp_directory_path(error);
    std::string name = (base / "engram-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr) {
      return Status(Code::io_failure, "cannot make a folder in " + base.string() + ": " +
                                          std::strerror(error ? error.value() : errno));
    }
    return ScratchFolder(std::move(name));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string release() { return std::exchange(path_, {}); }  // the folder stays

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace engram
