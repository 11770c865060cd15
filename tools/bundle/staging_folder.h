// Where a bundle is taken out and judged, and the lock of those who install.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "platform/file.h"
#include "tools/bundle/debian_package.h"

namespace engram {

// A folder that only we can look into, empty at first and gone at the end.
class StagingFolder {
 public:
  static Result<StagingFolder> make(const KeptPackages& kept) {
    ENGRAM_TRY(make_directories(kept.folder()));
    if (::chmod(kept.folder().c_str(), 0700) != 0) {
      return call_failed(kept.folder(), "chmod", errno, "Nothing was changed.");
    }
    ENGRAM_ASSIGN(FileLock lock, FileLock::acquire(kept.folder() + "/lock"));
    StagingFolder staging(kept.folder() + "/staging", std::move(lock));
    std::error_code ignored;
    std::filesystem::remove_all(staging.path_, ignored);  // of one that was interrupted
    ENGRAM_TRY(make_directories(staging.path_));
    return staging;
  }
  StagingFolder(StagingFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  ~StagingFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  StagingFolder(std::string path, FileLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  FileLock lock_;
};

}  // namespace engram
