#include <algorithm>

#include <fmt/format.h>

#include "tools/live/screen.h"
#include "tools/pictures/contact_sheet.h"

namespace engram {

std::vector<std::string> half_blocks(const Image& picture, const Region& region, int columns,
                                     int rows) {
  if (picture.width < 1 || picture.height < 2 || columns < 1 || rows < 1) return {};
  // As large as fits, in its own proportions; a letter is two pixels high.
  const double scale =
      std::min({double(columns) / picture.width, 2.0 * rows / picture.height, 1.0});
  const int width = std::clamp(int(picture.width * scale), 1, std::min(columns, picture.width));
  const int height =
      2 * std::clamp(int(picture.height * scale) / 2, 1, std::min(rows, picture.height / 2));
  const Image small = shrink(picture, width, height);
  const auto pixel = [&](int x, int y) {
    const std::size_t at = 3 * (std::size_t(y) * std::size_t(width) + std::size_t(x));
    const int right = 1000 * x / width - region.left, down = 1000 * y / height - region.top;
    const bool seen = right >= 0 && right < region.width && down >= 0 && down < region.height;
    const int share = seen ? 1 : 3;
    return fmt::format("{};{};{}", small.rgb[at] / share, small.rgb[at + 1] / share,
                       small.rgb[at + 2] / share);
  };
  std::vector<std::string> lines;
  for (int y = 0; y < height; y += 2) {
    std::string line, before;
    for (int x = 0; x < width; ++x) {
      const std::string colours =
          fmt::format("\x1b[38;2;{}m\x1b[48;2;{}m", pixel(x, y), pixel(x, y + 1));
      if (colours != before) line += colours;
      before = colours;
      line += "▀";
    }
    lines.push_back(line + "\x1b[0m");
  }
  return lines;
}

}  // namespace engram
