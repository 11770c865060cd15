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

constexpr std::uint32_t kNonJoiner = 0x200C, kJoiner = 0x200D;

// Characters that show nothing, or turn around what follows: zero-width and bidirectional controls,
// and the byte order mark.
bool is_invisible(std::uint32_t character) {
  return (character >= 0x200B && character <= 0x200F) ||
         (character >= 0x202A && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069) || character == 0xFEFF;
}

// Joiners show between the letters of some scripts (Persian, Hindi) and in emoji, none of which are
// below this; between others they show nothing.
constexpr std::uint32_t kFirstThatJoins = 0x600;

// The first bytes, whole characters only.
std::string beginning(std::string_view label) {
  std::size_t bytes = 20;
  while (bytes > 0 && (std::uint8_t(label[bytes]) >> 6) == 0x2) --bytes;
  return std::string(label.substr(0, bytes));
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
                    beginning(label), label.size(), kMaxLabelBytes));
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

Status check_new_label(std::string_view label) {
  ENGRAM_TRY(check_label(label));
  if (label.find_first_not_of(' ') == std::string_view::npos) {
    return Status(Code::invalid_argument,
                  "A label is blank; give every sample a name that can be seen.");
  }
  if (label.front() == ' ' || label.back() == ' ') {
    return Status(Code::invalid_argument,
                  fmt::format("The label \"{}\" begins or ends with a space, so it would look like "
                              "another one; leave the space out.",
                              label));
  }
  std::uint32_t before = 0, character = 0;
  for (std::size_t at = 0; at < label.size(); before = character) {
    const std::size_t begin = at;
    next_character(label, at, character);
    if (character == kNonJoiner || character == kJoiner) {
      std::uint32_t after = 0;
      if (std::size_t next = at; next < label.size()) next_character(label, next, after);
      const bool joins = before >= kFirstThatJoins && after >= kFirstThatJoins;
      if (joins && !is_invisible(before) && !is_invisible(after)) continue;
    }
    if (is_invisible(character)) {
      return Status(
          Code::invalid_argument,
          fmt::format("The label \"{}\" has an invisible character (U+{:04X}) at byte {}, "
                      "so it would look like another one; leave it out.",
                      label, character, begin + 1));
    }
  }
  return {};
}

}  // namespace engram
