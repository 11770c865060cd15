#include "tools/console/utf8.h"

#include "platform/status.h"

namespace engram {

CodePoint first_code_point(std::string_view text) {
  ENGRAM_CHECK(!text.empty());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const int length = lead >= 0xF0 && lead < 0xF8   ? 4
                     : lead >= 0xE0 && lead < 0xF0 ? 3
                     : lead >= 0xC0 && lead < 0xE0 ? 2
                                                   : 0;
  if (length == 0 || text.size() < static_cast<std::size_t>(length)) return {};
  std::uint32_t value = lead & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length, true};
}

}  // namespace engram
