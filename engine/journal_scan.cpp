#include <algorithm>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/journal.h"
#include "engine/journal_layout.h"
#include "platform/hash.h"

namespace engram {

namespace {

Status damaged_journal(const std::string& name, const std::string& what) {
  return Status(
      Code::bad_data,
      fmt::format("{}: {}. This is damage, not a write that was cut off, so nothing was "
                  "dropped or changed. Restore the directory from a copy; `engram verify` "
                  "shows what else is affected.",
                  name, what));
}

Result<JournalHeader> read_header(std::span<const std::byte> file, const std::string& name) {
  // A journal is put in place whole, header included: a short header is never a torn write.
  if (file.size() < journal_layout::kHeaderBytes) {
    return damaged_journal(name,
                           fmt::format("ends after {} bytes, within its header", file.size()));
  }
  const std::span<const std::byte> header = file.first(journal_layout::kHeaderBytes);
  if (as_text(header.first(journal_layout::kMagic.size())) != journal_layout::kMagic) {
    return damaged_journal(name, "is not an Engram journal, or its first bytes are damaged");
  }
  if (ByteReader(header.subspan(journal_layout::kHeaderChecksumAt)).take<std::uint64_t>() !=
      checksum64(header.first(journal_layout::kHeaderChecksumAt))) {
    return damaged_journal(name, "has a damaged header (its checksum does not match)");
  }
  ByteReader reader(
      header.first(journal_layout::kHeaderChecksumAt).subspan(journal_layout::kMagic.size()));
  const auto version = reader.take<std::uint32_t>();
  if (version < journal_layout::kVersion) {  // there was none before
    return damaged_journal(name, fmt::format("has an impossible format, {}", version));
  }
  if (version > journal_layout::kVersion) {
    return Status(
        Code::not_supported,
        fmt::format("{}: was written by a newer version of Engram (journal format {}, this "
                    "program reads {}). Nothing was changed; update Engram.",
                    name, version, journal_layout::kVersion));
  }
  const auto zero = reader.take<std::uint32_t>();
  JournalHeader result;
  result.state = reader.take<std::uint64_t>();
  result.base = reader.take<std::int64_t>();
  if (zero != 0 || result.base < 0 || !all_zero(reader.take_bytes(reader.left()))) {
    return damaged_journal(name, "has an impossible header");
  }
  return result;
}

}  // namespace

Result<JournalScan> scan_journal(std::span<const std::byte> file, const std::string& name) {
  JournalScan scan;
  ENGRAM_ASSIGN(scan.header, read_header(file, name));
  scan.end = journal_layout::kHeaderBytes;
  while (scan.end < file.size()) {
    const std::span<const std::byte> rest = file.subspan(scan.end);
    // Some file systems let a file grow before its content is there: zeros, never a valid record.
    const bool torn = rest.size() < journal_layout::kRecordHeaderBytes || all_zero(rest);
    if (torn) break;
    const auto bad = [&](const char* what) {
      return damaged_journal(
          name, fmt::format("record {} (at byte {}) {}", scan.sequence() + 1, scan.end, what));
    };
    ByteReader reader(rest);
    JournalRecord record;
    record.sequence = reader.take<std::int64_t>();
    record.kind = reader.take<std::uint32_t>();
    const std::size_t bytes = reader.take<std::uint32_t>();
    if (reader.take<std::uint64_t>() != checksum64(rest.first(journal_layout::kRecordChecksumAt))) {
      return bad("has a damaged header (its checksum does not match)");
    }
    if (record.sequence != scan.sequence() + 1) return bad("has the number of another record");
    if (bytes > kMaxJournalPayload) return bad("is larger than the format allows");
    if (reader.left() < bytes + journal_layout::kRecordTrailerBytes)
      break;  // torn: the file ends within it
    record.payload = reader.take_bytes(bytes);
    if (reader.take<std::uint64_t>() !=
        checksum64(rest.first(journal_layout::kRecordHeaderBytes + bytes))) {
      return bad("is damaged (its checksum does not match)");
    }
    scan.records.push_back(record);
    scan.end += journal_layout::kRecordHeaderBytes + bytes + journal_layout::kRecordTrailerBytes;
  }
  scan.torn = file.size() - scan.end;
  return scan;
}

}  // namespace engram
