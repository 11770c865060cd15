#include "engine/label.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace engram {
namespace {

// Reads one UTF-8 character and moves `at` behind it; false: not valid (overlong forms, surrogates
// and values above 10FFFF included).
bool next_character(std::string_view text, std::size_t& at, std::uint32_t& character) {
  const auto byte = [&](std::size_t i) { return std::uint8_t(text[i]); };
  const std::uint8_t lead = byte(at++);
  if (lead < 0x80) {
    character = lead;
    return true;
  }
  const int more = lead >> 5 == 0x6 ? 1 : lead >> 4 == 0xE ? 2 : lead >> 3 == 0x1E ? 3 : 0;
  if (more == 0 || at + more > text.size()) return false;
  character = lead & (0x3Fu >> more);
  for (int i = 0; i < more; ++i, ++at) {
    if (byte(at) >> 6 != 0x2) return false;
    character = character << 6 | (byte(at) & 0x3Fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return character >= kSmallest[more] && character <= 0x10FFFF && !surrogate;
}

}  // namespace

Status check_label(std::string_view label) {
  if (label.empty()) {
    return Status(Code::invalid_argument, "A label is empty; give every sample a name.");
  }
  if (label.size() > kMaxLabelBytes) {
    return Status(
        Code::invalid_argument,
        fmt::format("The label that begins with \"{}\" has {} bytes; at most {} are kept.",
                    std::string(label.substr(0, 20)), label.size(), kMaxLabelBytes));
  }
  for (std::size_t at = 0; at < label.size();) {
    const std::size_t begin = at;
    std::uint32_t character = 0;
    if (!next_character(label, at, character)) {
      return Status(Code::invalid_argument,
                    fmt::format("A label of {} bytes is not valid UTF-8 at byte {}.", label.size(),
                                begin + 1));
    }
    if (character < 0x20 || (character >= 0x7F && character < 0xA0)) {
      return Status(Code::invalid_argument,
                    fmt::format("A label of {} bytes has a control character at byte {}.",
                                label.size(), begin + 1));
    }
  }
  return {};
}

}  // namespace engram
