#include "tools/pictures/contact_sheet.h"

#include <algorithm>

#include "platform/status.h"

namespace engram {
namespace {

constexpr int kFramePixels = 4;  // pixels of colour around a picture
constexpr int kGap = 6;          // pixels of white between frames

void fill(Image& image, int left, int top, int width, int height, Colour colour) {
  for (int y = top; y < top + height; ++y) {
    std::uint8_t* pixel = image.rgb.data() + (std::size_t(y) * image.width + left) * 3;
    for (int x = 0; x < width; ++x, pixel += 3) {
      pixel[0] = colour.red;
      pixel[1] = colour.green;
      pixel[2] = colour.blue;
    }
  }
}

void paste(Image& image, int left, int top, const Image& picture) {
  for (int y = 0; y < picture.height; ++y) {
    const auto* from = picture.rgb.data() + std::size_t(y) * picture.width * 3;
    std::copy_n(from, picture.width * 3,
                image.rgb.data() + (std::size_t(top + y) * image.width + left) * 3);
  }
}

}  // namespace

Image shrink(const Image& picture, int width, int height) {
  ENGRAM_CHECK(width >= 1 && height >= 1 && width <= picture.width && height <= picture.height);
  Image small{width, height, std::vector<std::uint8_t>(std::size_t(width) * height * 3)};
  for (int y = 0; y < height; ++y) {
    const int top = y * picture.height / height, bottom = (y + 1) * picture.height / height;
    for (int x = 0; x < width; ++x) {
      const int left = x * picture.width / width, right = (x + 1) * picture.width / width;
      const int count = (bottom - top) * (right - left);
      for (int c = 0; c < 3; ++c) {
        int sum = count / 2;
        for (int v = top; v < bottom; ++v) {
          for (int u = left; u < right; ++u) {
            sum += picture.rgb[(std::size_t(v) * picture.width + u) * 3 + c];
          }
        }
        small.rgb[(std::size_t(y) * width + x) * 3 + c] = static_cast<std::uint8_t>(sum / count);
      }
    }
  }
  return small;
}

Image contact_sheet(const std::vector<SheetCell>& cells, int columns) {
  ENGRAM_CHECK(!cells.empty() && columns >= 1);
  const int width = cells.front().picture.width, height = cells.front().picture.height;
  const int step_x = width + 2 * kFramePixels + kGap, step_y = height + 2 * kFramePixels + kGap;
  const int rows = (static_cast<int>(cells.size()) + columns - 1) / columns;
  Image sheet{columns * step_x + kGap, rows * step_y + kGap, {}};
  sheet.rgb.assign(std::size_t(sheet.width) * sheet.height * 3, 255);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const SheetCell& cell = cells[i];
    ENGRAM_CHECK(cell.picture.width == width && cell.picture.height == height);
    const int left = kGap + static_cast<int>(i) % columns * step_x;
    const int top = kGap + static_cast<int>(i) / columns * step_y;
    fill(sheet, left, top, width + 2 * kFramePixels, height + 2 * kFramePixels, cell.frame);
    paste(sheet, left + kFramePixels, top + kFramePixels, cell.picture);
  }
  return sheet;
}

}  // namespace engram
