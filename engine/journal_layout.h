// The numbers of the journal format that writer and reader share (engine/journal.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace engram::journal_layout {

inline constexpr std::string_view kMagic{"ENGRAMJ\1", 8};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kHeaderChecksumAt = kHeaderBytes - 8;
inline constexpr std::size_t kRecordHeaderBytes = 24;
inline constexpr std::size_t kRecordChecksumAt = kRecordHeaderBytes - 8;
inline constexpr std::size_t kRecordTrailerBytes = 8;

}  // namespace engram::journal_layout
