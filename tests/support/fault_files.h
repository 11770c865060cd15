// File systems that fail on purpose.
//
// FaultFiles fails chosen calls; an fsync that is not to fail does nothing, since these files need
// not survive anything and a disk takes its time. PowerCutFiles stops the world at one call and then
// shows what the disk may hold: only what was fsynced is sure, everything else may be there, in
// part, or not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/file.h"

namespace engram::test {

// Real files, but fsync does nothing.
class UnsyncedFiles : public FileSystem {
 public:
  int fsync(int) override { return 0; }
};

enum class Call {
  open,
  write,
  fsync,
  ftruncate,
  close,
  rename,
  exchange,
  unlink
};  // write: pwrite
const char* name(Call call);

// Counts every call, in order; the fault is applied to call number `at` (from 0).
class FaultFiles : public UnsyncedFiles {
 public:
  enum class Fault {
    none,        // only count
    fail_once,   // call `at` fails, later ones work
    fail_after,  // call `at` and all later ones fail: the disk is gone
    full_after,  // from `at` on writes are cut in half once and then fail: the disk is full
  };
  explicit FaultFiles(Fault fault = Fault::none, int at = -1, int error = 5 /* EIO */)
      : fault_(fault), at_(at), error_(error) {}

  int calls() const { return int(log_.size()); }
  bool struck() const { return struck_; }  // the fault has happened
  const std::vector<Call>& log() const { return log_; }

  int open(const char* path, int flags, mode_t mode) override;
  ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) override;
  int fsync(int file) override;
  int ftruncate(int file, off_t size) override;
  int close(int file) override;
  int rename(const char* from, const char* to) override;
  int exchange(const char* one, const char* other) override;
  int unlink(const char* path) override;

 private:
  bool fails(Call call);                   // counts; sets errno
  std::size_t allowed(std::size_t count);  // how much of a write gets through

  Fault fault_;
  int at_;
  int error_;
  bool struck_ = false;
  bool cut_short_ = false;
  std::vector<Call> log_;
};

// Everything under one directory (no subfolders). Calls go to the real files; beside them it keeps
// what a power cut would leave. From call `at` on (-1: never) nothing has any effect (EIO), as if
// the machine had stopped just before it. Call `fail_at` fails without effect, and life goes on.
class PowerCutFiles : public FileSystem {
 public:
  explicit PowerCutFiles(std::string directory, int at = -1, int fail_at = -1);

  // The last `bytes` bytes of a file were written by a process that was killed before its fsync.
  void not_synced(const std::string& name, std::size_t bytes);

  int calls() const { return calls_; }
  // What the disk may hold after the cut; the directory is rewritten so. Names and contents are
  // kept by the disk independently, and each may be older than what the program saw.
  enum class Names { synced, latest };
  enum class Contents { synced, latest, torn };
  // torn: unsynced growth is there up to a place that `seed` chooses.
  void leave(Names names, Contents contents, std::uint64_t seed);

  int open(const char* path, int flags, mode_t mode) override;
  ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) override;
  int fsync(int file) override;
  int ftruncate(int file, off_t size) override;
  int close(int file) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;

 private:
  struct Node {
    std::vector<std::byte> synced;
    std::vector<std::byte> latest;
  };
  bool stopped();
  std::string name_of(const char* path) const;  // empty: not directly in the directory

  std::string directory_;
  int at_;
  int fail_at_;
  int calls_ = 0;
  std::vector<Node> nodes_;
  std::map<std::string, int> synced_names_;  // name -> node
  std::map<std::string, int> latest_names_;
  std::map<int, int> open_;  // file descriptor -> node; -1: the directory
};

}  // namespace engram::test
