// Files as the engine needs them: whole reads, durable appends, atomic replacement, one writer.
//
// Every system call that can lose data goes through FileSystem, so that tests can fail each of them
// in turn. Messages name the file, the call, the reason (strerror) and what was kept.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "platform/status.h"

namespace engram {

// The system calls, one virtual each. real_files() calls the kernel; tests derive from it to fail
// the n-th call, to write short, or to stop the world.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset);
  virtual int fsync(int file);
  virtual int ftruncate(int file, off_t size);
  virtual int close(int file);
  virtual int rename(const char* from, const char* to);
  virtual int exchange(const char* one, const char* other);  // the names of two, at once
  virtual int unlink(const char* path);
};
FileSystem& real_files();

// All of `bytes` at `offset`, whatever the number of calls: short writes go on, EINTR is repeated.
// Returns 0 or the errno.
int write_fully(FileSystem& files, int file, std::span<const std::byte> bytes, off_t offset);
// io_failure: "<path>: <call> failed: <reason of errno>. <kept>"
Status call_failed(const std::string& path, const char* call, int error, const std::string& kept);
std::string directory_of(const std::string& path);  // "." for a bare name

// A descriptor to read from; the caller closes it. Never waits, as opening a FIFO would. not_found,
// bad_data (not a plain file) or io_failure.
Result<int> open_plain_file(const std::string& path);
// The whole file; refuses one larger than `limit` bytes before reading it. not_found, bad_data (too
// large, or not a plain file) or io_failure.
Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t limit);
// Writes beside, fsyncs, renames, fsyncs the directory: after ok() the new content survives a power
// cut; after a failure the old content is still there. (Only the very last step, the fsync of the
// directory, can fail with the new content already in place: whole, but not yet sure to survive a
// power cut. The message says so.)
Status replace_file(const std::string& path, std::span<const std::byte> bytes,
                    FileSystem& files = real_files());
Status make_directories(const std::string& path);
Status sync_directory(const std::string& path, FileSystem& files = real_files());

// A read-only map of a file's bytes.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  std::span<const std::byte> bytes_;
};

// An exclusive lock (flock) on a file; released when it goes, also by kill -9.
class FileLock {
 public:
  // busy: another process holds it. io_failure: the file cannot be made (read-only disk).
  static Result<FileLock> acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace engram
