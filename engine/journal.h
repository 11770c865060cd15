// The journal: an append-only file of records, each with its sequence number and checksums.
//
// Layout, little-endian (engine/README.md has it byte by byte):
//   header   64 bytes: "ENGRAMJ\1", u32 format version, u32 zero, u64 id of the state, i64 base: the
//            sequence number before the first record, zeros, u64 checksum of all before
//   record   i64 sequence, u32 kind, u32 payload bytes, u64 checksum of these 16 bytes,
//            payload, u64 checksum of the record's header and payload
//
// What is told apart when a journal is read:
//   torn tail   the file ends within a record, or holds nothing but zeros behind the last one: an
//               append that a crash cut off. It was never acknowledged; it is cut off.
//   damage      a whole record with a wrong checksum, a wrong sequence number, a broken header,
//               wherever it is. The record may have been acknowledged; nothing is cut off, the
//               caller is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/file.h"
#include "platform/status.h"

namespace engram {

inline constexpr std::size_t kMaxJournalPayload = std::size_t{64} << 20;
inline constexpr std::size_t kMaxJournalBytes = std::size_t{1} << 30;  // more is never opened

struct JournalHeader {
  std::uint64_t state = 0;  // which state it belongs to
  std::int64_t base = 0;    // records start at base + 1
};

struct JournalRecord {
  std::int64_t sequence = 0;
  std::uint32_t kind = 0;              // engine/event.h
  std::span<const std::byte> payload;  // in the bytes that were scanned
};

struct JournalScan {
  JournalHeader header;
  std::vector<JournalRecord> records;
  std::size_t end = 0;   // where the last whole record ends
  std::size_t torn = 0;  // bytes behind it: an append that was cut off
  std::int64_t sequence() const { return header.base + std::int64_t(records.size()); }
};

// All records of a journal in memory. bad_data: damage. not_supported: a newer format.
Result<JournalScan> scan_journal(std::span<const std::byte> file, const std::string& name);

class Journal {
 public:
  // An empty journal under `path`, in place of one that may be there: all or nothing.
  static Status create(const std::string& path, const JournalHeader& header,
                       FileSystem& files = real_files());
  // For appending behind what was scanned; cuts a torn tail off. After ok() all that was scanned is
  // durable: of a process that was killed it may have been in memory only.
  // `limit`: how large the file may become; tests take less than what any program may open.
  static Result<Journal> open(const std::string& path, const JournalScan& scan,
                              FileSystem& files = real_files(),
                              std::size_t limit = kMaxJournalBytes);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  // Write, fsync. After ok() the record is durable. After a failure it is absent, or, when it could
  // not even be cut off again, usable() is false, the message says so, and every later append fails.
  Status append(std::uint32_t kind, std::span<const std::byte> payload);
  // Undoes the last append, durably. At most once after each.
  Status take_back();

  // Replaces the file by an empty journal whose base is sequence(): for when a snapshot holds all
  // of it. After a failure the old one is in use as before, unless usable() is false.
  Status start_over() { return start_over(sequence()); }
  // The same where the snapshot holds events beyond, up to `base`: sequence() from then on. After a
  // failure nothing may be appended: it would get a number that the snapshot covers.
  Status start_over(std::int64_t base);

  bool has_room(std::size_t payload_bytes) const;  // false: append would refuse, the file is full
  bool usable() const;
  std::int64_t sequence() const;  // of the last record
  std::int64_t bytes() const;

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace engram
