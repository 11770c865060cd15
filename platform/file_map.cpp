// MappedFile and FileLock (platform/file.h).
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "platform/file.h"

namespace engram {

Result<MappedFile> MappedFile::open(const std::string& path) {
  ENGRAM_ASSIGN(const int file, open_plain_file(path));
  MappedFile map;
  struct stat info {};
  int error = ::fstat(file, &info) == 0 ? 0 : errno;
  if (error == 0 && info.st_size > 0) {
    void* const start = ::mmap(nullptr, std::size_t(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    error = start == MAP_FAILED ? errno : 0;
    if (error == 0) {
      map.bytes_ = {static_cast<const std::byte*>(start), std::size_t(info.st_size)};
    }
  }
  ::close(file);
  if (error != 0) {
    return Status(Code::io_failure,
                  fmt::format("{}: cannot be mapped: {}.", path, std::strerror(error)));
  }
  return map;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return call_failed(path, "open", errno, "Nothing was changed.");
  int error = 0;
  do {
    error = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) return FileLock(file);
  ::close(file);
  if (error == EWOULDBLOCK) {
    return Status(Code::busy, fmt::format("{}: another process is writing here. Nothing was "
                                          "changed; wait until it has ended and try again.",
                                          path));
  }
  return call_failed(path, "flock", error, "Nothing was changed.");
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace engram
