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
    if (error) {
      const char* const wanted = std::getenv("TMPDIR");
      return no_folder(wanted ? wanted : "/tmp", error.value());
    }
    std::string name = (base / "engram-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return no_folder(base.string(), errno);
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
  static Status no_folder(const std::string& base, int error) {
    return Status(Code::io_failure, "cannot make a temporary folder in " + base + ": " +
                                        std::strerror(error) +
                                        ". Set TMPDIR to a folder that can be written to.");
  }
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace engram
