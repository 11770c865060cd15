#include "platform/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "platform/descriptor.h"

namespace engram {

int FileSystem::open(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}
ssize_t FileSystem::pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  return ::pwrite(file, bytes, count, offset);
}
int FileSystem::fsync(int file) {
  return ::fsync(file);
}
int FileSystem::ftruncate(int file, off_t size) {
  return ::ftruncate(file, size);
}
int FileSystem::close(int file) {
  return ::close(file);
}
int FileSystem::rename(const char* from, const char* to) {
  return ::rename(from, to);
}
int FileSystem::exchange(const char* one, const char* other) {
  return ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}
int FileSystem::unlink(const char* path) {
  return ::unlink(path);
}

FileSystem& real_files() {
  static FileSystem files;
  return files;
}

int write_fully(FileSystem& files, int file, std::span<const std::byte> bytes, off_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = files.pwrite(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ENOSPC;  // no progress and no reason given: the disk takes no more
    bytes = bytes.subspan(std::size_t(count));
    offset += count;
  }
  return 0;
}

Status call_failed(const std::string& path, const char* call, int error, const std::string& kept) {
  return Status(Code::io_failure,
                fmt::format("{}: {} failed: {}. {}", path, call, std::strerror(error), kept));
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<int> open_plain_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const int error = errno;
    return Status(error == ENOENT || error == ENOTDIR ? Code::not_found : Code::io_failure,
                  fmt::format("{}: cannot be opened: {}.", path, std::strerror(error)));
  }
  struct stat info {};
  const int error = ::fstat(file, &info) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(info.st_mode)) return file;
  ::close(file);
  if (error == 0) return Status(Code::bad_data, fmt::format("{}: is not a plain file.", path));
  return Status(Code::io_failure, fmt::format("{}: {}.", path, std::strerror(error)));
}

Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t limit) {
  ENGRAM_ASSIGN(const int opened, open_plain_file(path));
  const Descriptor file(opened);
  const auto fail = [&](Code code, const std::string& reason) {
    return Status(code, fmt::format("{}: {}.", path, reason));
  };
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail(Code::io_failure, std::strerror(errno));
  if (std::size_t(info.st_size) > limit) {
    return fail(Code::bad_data,
                fmt::format("has {} bytes, more than the {} allowed here", info.st_size, limit));
  }
  std::vector<std::byte> bytes(std::size_t(info.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return fail(Code::io_failure, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    if (count == 0) break;  // it became shorter meanwhile
    done += std::size_t(count);
  }
  bytes.resize(done);
  return bytes;
}

Status replace_file(const std::string& path, std::span<const std::byte> bytes, FileSystem& files) {
  const std::string beside = path + ".new";
  const std::string kept = path + " is as it was.";
  const int file = files.open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return call_failed(beside, "open", errno, kept);

  const char* call = "write";
  int error = write_fully(files, file, bytes, 0);
  if (error == 0 && files.fsync(file) != 0) {
    call = "fsync";
    error = errno;
  }
  if (files.close(file) != 0 && error == 0) {
    call = "close";
    error = errno;
  }
  if (error == 0 && files.rename(beside.c_str(), path.c_str()) != 0) {
    call = "rename";
    error = errno;
  }
  if (error != 0) {
    files.unlink(beside.c_str());
    return call_failed(beside, call, error, kept);
  }
  return sync_directory(directory_of(path), files);
}

Status make_directories(const std::string& path) {
  if (path.empty()) return Status(Code::invalid_argument, "An empty directory name.");
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    struct stat info {};
    if (::mkdir(part.c_str(), 0777) == 0) {
      // The new name must survive a power cut as well as what will be put under it.
      ENGRAM_TRY(sync_directory(directory_of(part)));
    } else if (const int error = errno;
               ::stat(part.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      return Status(Code::io_failure,
                    fmt::format("{}: the directory cannot be made: {}. Nothing was written there; "
                                "choose another place, or make that directory first.",
                                part, std::strerror(error)));
    }
    if (slash == std::string::npos) return {};
  }
}

Status sync_directory(const std::string& path, FileSystem& files) {
  const std::string kept =
      "What was written is in place, but a power cut could still undo it; repeat the command.";
  const int file = files.open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (file < 0) return call_failed(path, "open of the directory", errno, kept);
  const int error = files.fsync(file) == 0 ? 0 : errno;
  files.close(file);  // nothing was written through it: its failure loses nothing
  // Some file systems (FAT, some network ones) cannot fsync a directory and say EINVAL.
  if (error != 0 && error != EINVAL)
    return call_failed(path, "fsync of the directory", error, kept);
  return {};
}

}  // namespace engram
