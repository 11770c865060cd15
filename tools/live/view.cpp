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

PictureView cut_out(const PictureView& picture, const Region& region) {
  const Region part = within(region);
  struct Span {
    int first, count;
  };
  // From `thousandths` to `end` of a side. Two pixels of NV12 share a colour.
  const auto span = [&picture](int thousandths, int end, int side) -> Span {
    const auto scaled = [side](int share) { return int(std::int64_t{share} * side / 1000); };
    const int first = std::min(scaled(thousandths), side - 1), last = scaled(end);
    const int even = picture.is_nv12() ? first / 2 * 2 : first;
    return {even, std::max(1, last - even)};
  };
  const Span across = span(part.left, part.left + part.width, picture.width());
  const Span down = span(part.top, part.top + part.height, picture.height());
  const auto& [pixels, chroma, colours] = picture;
  if (!picture.is_nv12()) {
    return {{pixels.row(down.first) + 3 * std::ptrdiff_t{across.first}, down.count,
             3 * across.count, pixels.stride}};
  }
  return {{pixels.row(down.first) + across.first, down.count, across.count, pixels.stride},
          {chroma.row(down.first / 2) + across.first, (down.count + 1) / 2,
           (across.count + 1) / 2 * 2, chroma.stride},
          colours};
}

}  // namespace engram
