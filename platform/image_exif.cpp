// Orientation: what a camera notes instead of turning the pixels.
//
// The notes are a TIFF block: byte order, the number 42, the offset of the first directory (IFD0);
// a directory is a count and 12-byte entries (tag, type, count, value). Every offset is checked.
#include <optional>

#include "platform/image_codecs.h"

namespace engram::codec {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;  // TIFF's name for 16 bits
constexpr std::size_t kEntryBytes = 12;

class Tiff {
 public:
  explicit Tiff(Bytes block) : block_(block) {}

  bool read_byte_order() {
    if (block_.size() < 8 || byte_at(block_, 0) != byte_at(block_, 1)) return false;
    little_ = byte_at(block_, 0) == 'I';
    return little_ || byte_at(block_, 0) == 'M';
  }
  // An unsigned number of `size` bytes; none when it would lie outside the block.
  std::optional<std::uint32_t> number(std::size_t offset, std::size_t size) const {
    if (offset > block_.size() || size > block_.size() - offset) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t shift = 8 * (little_ ? i : size - 1 - i);
      value |= std::uint32_t{byte_at(block_, offset + i)} << shift;
    }
    return value;
  }

 private:
  Bytes block_;
  bool little_ = false;
};

}  // namespace

int exif_orientation(Bytes block) {
  constexpr int kUpright = 1;
  Tiff tiff(block);
  if (!tiff.read_byte_order() || tiff.number(2, 2) != 42u) return kUpright;
  const auto directory = tiff.number(4, 4);
  if (!directory) return kUpright;
  const auto entries = tiff.number(*directory, 2);
  for (std::size_t i = 0; entries && i < *entries; ++i) {
    const std::size_t entry = std::size_t{*directory} + 2 + i * kEntryBytes;
    const auto tag = tiff.number(entry, 2);
    if (!tag) break;
    if (tag != kOrientationTag) continue;
    const auto value = tiff.number(entry + 8, 2);
    const bool sound = tiff.number(entry + 2, 2) == kShort && tiff.number(entry + 4, 4) == 1u;
    return sound && value >= 1u && value <= 8u ? static_cast<int>(*value) : kUpright;
  }
  return kUpright;
}

// EXIF's eight cases as three questions: are rows and columns exchanged, and from which end is each
// side of the stored picture read?
//
//   1 as stored     3 half turn         5 transpose      7 transpose, half turn
//   2 left-right    4 top-bottom        6 quarter turn   8 three quarter turns   (clockwise)
Image turned_upright(Image stored, int orientation) {
  if (orientation <= 1 || orientation > 8) return stored;
  const bool exchanged = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;

  Image upright;
  upright.width = exchanged ? stored.height : stored.width;
  upright.height = exchanged ? stored.width : stored.height;
  upright.rgb.resize(stored.rgb.size());
  std::uint8_t* to = upright.rgb.data();
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x, to += 3) {
      int column = exchanged ? y : x;
      int row = exchanged ? x : y;
      if (from_right) column = stored.width - 1 - column;
      if (from_bottom) row = stored.height - 1 - row;
      const std::uint8_t* from = stored.view().row(row) + 3 * column;
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
    }
  }
  return upright;
}

}  // namespace engram::codec
