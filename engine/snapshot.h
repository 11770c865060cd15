// A snapshot: named sections in one file, each with its checksum; written beside and renamed.
//
// Layout, little-endian (engine/README.md has it byte by byte):
//   header    1024 bytes: "ENGRAM\0\1", u32 format version, u32 section count, u64 file size,
//             room for 24 sections (name[16], u64 offset, u64 bytes, u64 checksum), zeros, and in
//             the last 8 bytes the checksum of all before
//   sections  at their offsets, 64-byte aligned, in table order; zeros between them
// Checksums are XXH3-64. Every byte of the file is under one of them or must be zero: any flipped
// bit is found. The header keeps its size, its version field and its checksum in every later
// version, so that a newer file is told from a damaged one.
//
// Writing streams (a Gram matrix is larger than what a device can hold twice); reading maps the
// file, checks every checksum, and hands out spans.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/file.h"
#include "platform/status.h"

namespace engram {

class SnapshotWriter {
 public:
  // Opens `path` + ".new". Nothing is seen under `path` before commit() has succeeded.
  static Result<SnapshotWriter> create(const std::string& path, FileSystem& files = real_files());
  SnapshotWriter(SnapshotWriter&&) noexcept;
  SnapshotWriter& operator=(SnapshotWriter&&) noexcept;
  ~SnapshotWriter();  // without commit(): removes the half-written file

  Status begin_section(std::string_view name);  // 1..15 bytes, not used before
  Status write(std::span<const std::byte> bytes);
  // Header, fsync, close: the file is whole on the disk, but still beside. Everything that needs
  // space happens here.
  Status finish();
  // Rename, fsync of the directory. After ok() the new file survives a power cut. After a failure
  // of the rename the old file is there; of the fsync, the new one, but a power cut could undo it.
  Status publish();
  bool published() const;  // renamed: after a failure of publish, which of the two it was
  // finish, publish.
  Status commit();

 private:
  struct Impl;
  explicit SnapshotWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class SnapshotReader {
 public:
  static constexpr const char* kRestoreFile =
      "Restore the file from a copy; `engram verify` shows what else is affected.";
  // Checks everything. bad_data: which section is broken, and `advice`. not_supported: written by
  // a newer version. not_found: no such file.
  static Result<SnapshotReader> open(const std::string& path, std::string advice = kRestoreFile);
  // The same on bytes in memory (borrowed), for fuzzing and tests.
  static Result<SnapshotReader> parse(std::span<const std::byte> bytes, std::string name);
  SnapshotReader(SnapshotReader&&) noexcept;
  SnapshotReader& operator=(SnapshotReader&&) noexcept;
  ~SnapshotReader();

  bool has(std::string_view name) const;
  Result<std::span<const std::byte>> section(std::string_view name) const;  // bad_data: absent
  const std::string& path() const;

 private:
  struct Impl;
  explicit SnapshotReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
