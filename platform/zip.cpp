#include "platform/zip.h"

#include <fmt/format.h>
#include <zlib.h>

namespace engram {

namespace {

constexpr std::size_t kEndSize = 22;        // end of central directory, without its comment
constexpr std::size_t kDirectorySize = 46;  // one entry of it, without names
constexpr std::size_t kLocalSize = 30;
constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kDirectoryMark = 0x02014b50;
constexpr std::uint32_t kLocalMark = 0x04034b50;

// Little-endian; the caller has checked that the bytes are there.
std::uint32_t u16(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint32_t>(bytes[at]) | std::to_integer<std::uint32_t>(bytes[at + 1])
                                                         << 8;
}
std::uint32_t u32(std::span<const std::byte> bytes, std::size_t at) {
  return u16(bytes, at) | u16(bytes, at + 2) << 16;
}

// Where the end record begins; it is last, but for a comment of at most 64 KiB.
std::size_t find_end(std::span<const std::byte> bytes) {
  if (bytes.size() < kEndSize) return std::string::npos;
  const std::size_t last = bytes.size() - kEndSize;
  const std::size_t first = last > 65535 ? last - 65535 : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (u32(bytes, at) == kEndMark && at + kEndSize + u16(bytes, at + 20) <= bytes.size()) {
      return at;
    }
  }
  return std::string::npos;
}

}  // namespace

bool ZipReader::looks_like_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && (u32(bytes, 0) == kLocalMark || u32(bytes, 0) == kEndMark);
}

Result<ZipReader> ZipReader::parse(std::span<const std::byte> bytes, std::string name) {
  const auto broken = [&](const char* what) {
    return Status(Code::bad_data, fmt::format("{}: not a usable ZIP archive: {}", name, what));
  };
  const std::size_t end = find_end(bytes);
  if (end == std::string::npos) return broken("its directory is missing (is it cut off?)");
  const std::uint32_t count = u16(bytes, end + 10);
  const std::uint64_t size = u32(bytes, end + 12);
  const std::uint64_t start = u32(bytes, end + 16);
  if (count == 0xffff || size == 0xffffffff || start == 0xffffffff) {
    return broken("it uses zip64 (4 GiB or more, or over 65534 members), which is not supported");
  }
  if (u16(bytes, end + 4) != 0 || u16(bytes, end + 6) != 0 || u16(bytes, end + 8) != count) {
    return broken("it is one part of several");
  }
  if (start + size > end) return broken("its directory reaches outside the file");

  ZipReader reader(bytes, name);
  std::size_t at = static_cast<std::size_t>(start);
  const std::size_t directory_end = static_cast<std::size_t>(start + size);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (directory_end - at < kDirectorySize || u32(bytes, at) != kDirectoryMark) {
      return broken("its directory is damaged");
    }
    const std::size_t name_size = u16(bytes, at + 28);
    const std::size_t extra = u16(bytes, at + 30) + u16(bytes, at + 32);
    if (directory_end - at - kDirectorySize < name_size + extra) {
      return broken("its directory is damaged");
    }
    Member member;
    member.name.assign(reinterpret_cast<const char*>(bytes.data()) + at + kDirectorySize,
                       name_size);
    if ((u16(bytes, at + 8) & 1) != 0) return broken("it is encrypted");
    member.method = static_cast<std::uint16_t>(u16(bytes, at + 10));
    member.crc = u32(bytes, at + 16);
    member.compressed = u32(bytes, at + 20);
    member.size = u32(bytes, at + 24);
    member.header = u32(bytes, at + 42);
    if (member.compressed == 0xffffffff || member.size == 0xffffffff ||
        member.header == 0xffffffff) {
      return broken("it has a member of 4 GiB or more (zip64), which is not supported");
    }
    reader.by_name_.emplace(member.name, reader.members_.size());
    reader.members_.push_back(std::move(member));
    at += kDirectorySize + name_size + extra;
  }
  return reader;
}

const ZipReader::Member* ZipReader::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &members_[found->second];
}

Result<std::vector<std::byte>> ZipReader::read(const Member& member, std::size_t limit) const {
  const auto broken = [&](const std::string& what) {
    return Status(Code::bad_data, fmt::format("{}: member {} {}", name_, member.name, what));
  };
  if (member.size > limit) {
    return broken(fmt::format("has {} bytes, more than the {} allowed", member.size, limit));
  }
  if (member.header + kLocalSize > bytes_.size() ||
      u32(bytes_, static_cast<std::size_t>(member.header)) != kLocalMark) {
    return broken("has no header where the directory says");
  }
  const std::size_t header = static_cast<std::size_t>(member.header);
  const std::uint64_t start =
      member.header + kLocalSize + u16(bytes_, header + 26) + u16(bytes_, header + 28);
  if (start + member.compressed > bytes_.size()) return broken("is cut off");
  const auto content =
      bytes_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(member.compressed));
  std::vector<std::byte> result;
  if (member.method == 0) {
    if (member.size != member.compressed) return broken("has two sizes");
    result.assign(content.begin(), content.end());
  } else if (member.method == 8) {
    // Deflate never does better than 1032 to 1: a larger claim is a lie, seen before allocating.
    if (member.size > member.compressed * 1032 + 64) return broken("claims an impossible size");
    result.resize(static_cast<std::size_t>(member.size));
    std::byte nothing{};
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
      return Status(Code::out_of_memory, fmt::format("{}: no memory to unpack it", name_));
    }
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.empty() ? &nothing : result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    const int outcome = inflate(&stream, Z_FINISH);
    const bool whole = outcome == Z_STREAM_END && stream.total_out == member.size;
    inflateEnd(&stream);
    if (!whole) return broken("is damaged (its compressed data does not unpack to its size)");
  } else {
    return broken(fmt::format("is compressed by method {}, which is not supported", member.method));
  }
  const uLong crc =
      crc32(0, reinterpret_cast<const Bytef*>(result.data()), static_cast<uInt>(result.size()));
  if (result.empty() ? member.crc != 0 : crc != member.crc) {
    return broken("is damaged (wrong checksum)");
  }
  return result;
}

}  // namespace engram
