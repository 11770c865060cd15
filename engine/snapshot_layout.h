// The numbers of the snapshot format that writer and reader share (engine/snapshot.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace engram::snapshot_layout {

inline constexpr std::string_view kMagic{"ENGRAM\0\1", 8};
inline constexpr std::uint32_t kVersion = 2;        // written
inline constexpr std::uint32_t kOldestVersion = 1;  // read
inline constexpr std::size_t kHeaderBytes = 1024;
inline constexpr std::size_t kChecksumAt = kHeaderBytes - 8;
inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kNameBytes = 16;  // the last one is always zero
inline constexpr std::uint32_t kMaxSections = 24;

inline constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

struct Section {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

}  // namespace engram::snapshot_layout
