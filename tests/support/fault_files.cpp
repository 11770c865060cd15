#include "tests/support/fault_files.h"

#include <cerrno>
#include <utility>

namespace engram::test {

const char* name(Call call) {
  constexpr const char* kNames[] = {"open",  "write",  "fsync",    "ftruncate",
                                    "close", "rename", "exchange", "unlink"};
  return kNames[int(call)];
}

bool FaultFiles::fails(Call call) {
  const int number = int(log_.size());
  log_.push_back(call);
  bool fails = false;
  switch (fault_) {
    case Fault::none:
      break;
    case Fault::fail_once:
      fails = number == at_;
      break;
    case Fault::fail_after:
      fails = number >= at_;
      break;
    case Fault::full_after:  // a full disk still closes, cuts, and removes
      fails = number >= at_ && call == Call::write && std::exchange(cut_short_, true);
      struck_ = struck_ || (number >= at_ && call == Call::write);
      break;
  }
  if (fails) {
    struck_ = true;
    errno = error_;
  }
  return fails;
}

std::size_t FaultFiles::allowed(std::size_t count) {
  return fault_ == Fault::full_after && cut_short_ ? count / 2 : count;
}

int FaultFiles::open(const char* path, int flags, mode_t mode) {
  return fails(Call::open) ? -1 : FileSystem::open(path, flags, mode);
}
ssize_t FaultFiles::pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  return fails(Call::write) ? -1 : FileSystem::pwrite(file, bytes, allowed(count), offset);
}
int FaultFiles::fsync(int file) {
  return fails(Call::fsync) ? -1 : UnsyncedFiles::fsync(file);
}
int FaultFiles::ftruncate(int file, off_t size) {
  return fails(Call::ftruncate) ? -1 : FileSystem::ftruncate(file, size);
}
int FaultFiles::close(int file) {
  // Linux closes the descriptor even when it reports a failure.
  const bool failed = fails(Call::close);
  const int result = FileSystem::close(file);
  if (failed) errno = error_;
  return failed ? -1 : result;
}
int FaultFiles::rename(const char* from, const char* to) {
  return fails(Call::rename) ? -1 : FileSystem::rename(from, to);
}
int FaultFiles::exchange(const char* one, const char* other) {
  return fails(Call::exchange) ? -1 : FileSystem::exchange(one, other);
}
int FaultFiles::unlink(const char* path) {
  return fails(Call::unlink) ? -1 : FileSystem::unlink(path);
}

}  // namespace engram::test
