#include "tools/live/view.h"

#include <algorithm>

namespace engram {

Region within(Region region) {
  region.left = std::clamp(region.left, 0, 999);
  region.top = std::clamp(region.top, 0, 999);
  region.width = std::clamp(region.width, 1, 1000 - region.left);
  region.height = std::clamp(region.height, 1, 1000 - region.top);
  return region;
}

Image mirrored(const Image& picture) {
  Image image{picture.width, picture.height, std::vector<std::uint8_t>(picture.rgb.size())};
  const std::size_t row_bytes = 3 * std::size_t(picture.width);
  for (std::size_t at = 0; at + row_bytes <= picture.rgb.size(); at += row_bytes) {
    const std::uint8_t* from = picture.rgb.data() + at + row_bytes;
    std::uint8_t* to = image.rgb.data() + at;
    for (int x = 0; x < picture.width; ++x, to += 3) {
      from -= 3;
      std::copy_n(from, 3, to);
    }
  }
  return image;
}

Image cut_out(const Image& picture, const Region& region) {
  const Region part = within(region);
  const auto scaled = [](int thousandths, int side) {
    return int(std::int64_t{thousandths} * side / 1000);
  };
  const int left = std::min(scaled(part.left, picture.width), picture.width - 1);
  const int top = std::min(scaled(part.top, picture.height), picture.height - 1);
  Image image;
  image.width = std::max(1, scaled(part.left + part.width, picture.width) - left);
  image.height = std::max(1, scaled(part.top + part.height, picture.height) - top);
  image.rgb.reserve(3 * std::size_t(image.width) * std::size_t(image.height));
  for (int y = top; y < top + image.height; ++y) {
    const auto from =
        picture.rgb.begin() + 3 * (std::ptrdiff_t(y) * picture.width + std::ptrdiff_t(left));
    image.rgb.insert(image.rgb.end(), from, from + 3 * std::ptrdiff_t(image.width));
  }
  return image;
}

}  // namespace engram
