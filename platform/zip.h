// Reading ZIP archives (Python wheels, PyTorch checkpoints) from memory, bounded.
//
// Stored and deflated members, found through the central directory. Refused with a sentence: sizes
// of 4 GiB and more (zip64), encryption, other methods, members that reach outside the file, sizes
// that deflate cannot reach, wrong checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/status.h"

namespace engram {

class ZipReader {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;        // uncompressed
    std::uint64_t compressed = 0;  // in the file
    std::uint64_t header = 0;      // offset of its local header
    std::uint32_t crc = 0;
    std::uint16_t method = 0;  // 0 stored, 8 deflated
  };

  // `bytes` is borrowed; messages start with `name`.
  static Result<ZipReader> parse(std::span<const std::byte> bytes, std::string name);
  // Whether the bytes begin like an archive.
  static bool looks_like_zip(std::span<const std::byte> bytes);

  const std::vector<Member>& members() const { return members_; }
  const Member* find(std::string_view name) const;  // null: no such member
  // The member's content; bad_data if it is larger than `limit`, before memory is taken.
  Result<std::vector<std::byte>> read(const Member& member, std::size_t limit) const;

 private:
  ZipReader(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}

  std::span<const std::byte> bytes_;
  std::string name_;
  std::vector<Member> members_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace engram
