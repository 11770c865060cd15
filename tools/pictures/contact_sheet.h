// Many small pictures in one: what the camera saw, and whether it was recognised.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/image.h"

namespace engram {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
};
inline constexpr Colour kWhite{255, 255, 255}, kGreen{0, 158, 115}, kRed{213, 94, 0};

// Each pixel is the mean of those that it covers.
Image shrink(const Image& picture, int width, int height);

struct SheetCell {
  Image picture;
  Colour frame = kWhite;
};
// Cells of equal pictures, row by row, `columns` to a row, each in its coloured frame.
Image contact_sheet(const std::vector<SheetCell>& cells, int columns);

}  // namespace engram
