#include "tools/web/qr_code.h"

#include <fmt/format.h>

#include "tools/web/qr_drawing.h"
#include "tools/web/qr_words.h"

namespace engram {

Result<QrCode> QrCode::encode(std::string_view text, QrLevel level) {
  for (int version = 1; version <= kLargestQrVersion; ++version) {
    if (text.size() > qr_capacity(version, level)) continue;
    QrDrawing drawing(version, level);
    drawing.draw_words(qr_words(text, version, level));
    drawing.choose_mask();
    QrCode code;
    code.size_ = drawing.size();
    code.modules_ = drawing.modules();
    return code;
  }
  return Status(Code::invalid_argument,
                fmt::format("{} bytes are too many for a QR code; at most {} fit.", text.size(),
                            qr_capacity(kLargestQrVersion, level)));
}

bool QrCode::dark(int x, int y) const {
  if (x < 0 || y < 0 || x >= size_ || y >= size_) return false;
  return modules_[std::size_t(y) * std::size_t(size_) + std::size_t(x)] != 0;
}

std::string draw_qr(const QrCode& code, bool colour) {
  constexpr int kQuiet = 4;
  constexpr const char* kBlocks[] = {" ", "▄", "▀", "█"};  // by upper * 2 + lower
  std::string text;
  for (int y = -kQuiet; y < code.size() + kQuiet; y += 2) {
    if (colour) text += "\x1b[38;5;16;48;5;231m";
    for (int x = -kQuiet; x < code.size() + kQuiet; ++x) {
      const int upper = code.dark(x, y) == colour, lower = code.dark(x, y + 1) == colour;
      text += kBlocks[upper * 2 + lower];
    }
    text += colour ? "\x1b[0m\n" : "\n";
  }
  return text;
}

}  // namespace engram
