// The second half of a QR code: from words to dark and light modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/web/qr_code.h"

namespace engram {

class QrDrawing {
 public:
  QrDrawing(int version, QrLevel level);  // with everything but words and mask
  void draw_words(const std::vector<std::uint8_t>& words);
  void choose_mask();  // the one that looks least like a pattern

  int size() const { return size_; }
  const std::vector<std::uint8_t>& modules() const { return modules_; }

 private:
  std::uint8_t& at(int x, int y) { return modules_[std::size_t(y * size_ + x)]; }
  void set_fixed(int x, int y, bool dark);  // no word and no mask touches it
  void draw_finder(int x, int y);
  void draw_alignment();
  void draw_version();
  void draw_format(int mask);
  void apply_mask(int mask);
  int penalty() const;
  int line_penalty(const std::vector<std::uint8_t>& line) const;

  int version_, size_;
  QrLevel level_;
  std::vector<std::uint8_t> modules_, fixed_;
};

}  // namespace engram
