// QR codes (ISO/IEC 18004) for addresses: bytes, versions 1 to 10, so up to 271 of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/status.h"

namespace engram {

enum class QrLevel { low, medium };  // 7 % or 15 % of the code may be unreadable

class QrCode {
 public:
  // The smallest version that holds the text. invalid_argument: none does.
  static Result<QrCode> encode(std::string_view text, QrLevel level = QrLevel::medium);

  int size() const { return size_; }  // modules on each side, without the quiet zone
  int version() const { return (size_ - 17) / 4; }
  bool dark(int x, int y) const;  // false outside: the quiet zone

 private:
  int size_ = 0;
  std::vector<std::uint8_t> modules_;
};

// Two modules in one character, with the quiet zone of four. In colour black on white; otherwise light
// modules are drawn, which on a dark terminal looks the same.
std::string draw_qr(const QrCode& code, bool colour);

}  // namespace engram
