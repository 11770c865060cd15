#include "platform/camera_pixels.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace engram {
namespace {

// A row of YUYV as RGB.
void yuyv_row_to_rgb(const YuvColours& colours, const std::uint8_t* row, int width,
                     std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x) {
    const std::uint8_t* pair = row + 4 * (x / 2);
    const Rgb pixel = rgb_of(colours, pair[2 * (x % 2)], pair[1], pair[3]);
    *rgb++ = pixel.red;
    *rgb++ = pixel.green;
    *rgb++ = pixel.blue;
  }
}

// Bytes of one row, without what follows it up to the stride. An odd pixel has a pair to itself.
std::int64_t row_bytes(const FrameLayout& layout) {
  const std::int64_t even = layout.width + layout.width % 2;
  return layout.format == PixelFormat::yuyv ? 2 * even : even;
}

std::int64_t frame_bytes(const FrameLayout& layout) {
  const std::int64_t rows =
      layout.format == PixelFormat::yuyv ? layout.height : layout.height + (layout.height + 1) / 2;
  return (rows - 1) * layout.stride + row_bytes(layout);
}

}  // namespace

Status check_layout(const FrameLayout& layout, const std::string& camera) {
  if (layout.format == PixelFormat::jpeg) return {};
  const bool sane = layout.width > 0 && layout.height > 0 && layout.width <= kMaxSide &&
                    layout.height <= kMaxSide &&
                    std::int64_t{layout.width} * layout.height <= kMaxPixels &&
                    layout.stride >= row_bytes(layout) && layout.stride <= 8 * kMaxSide;
  if (sane) return {};
  return {Code::invalid_argument,
          fmt::format("{}: offers pictures of {} x {} pixels, {} bytes a row, which cannot be; ask "
                      "for another size with ?width=640&height=480",
                      camera, layout.width, layout.height, layout.stride)};
}

Result<CameraPicture> read_frame(const FrameLayout& layout, std::span<const std::byte> bytes,
                                 const std::string& camera) {
  if (layout.format == PixelFormat::jpeg) {
    ENGRAM_ASSIGN(Image image, decode_image(bytes, camera));
    return CameraPicture(std::move(image));
  }
  ENGRAM_TRY(check_layout(layout, camera));
  if (static_cast<std::int64_t>(bytes.size()) < frame_bytes(layout)) {
    return Status(Code::bad_data, fmt::format("{}: a picture came with {} bytes instead of {}",
                                              camera, bytes.size(), frame_bytes(layout)));
  }
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto& [format, width, height, stride, colours] = layout;
  if (format == PixelFormat::nv12) {
    const std::uint8_t* chroma = first + std::ptrdiff_t{height} * stride;
    return CameraPicture::copy_of({{first, height, width, stride},
                                   {chroma, (height + 1) / 2, width + width % 2, stride},
                                   colours});
  }
  Image image{width, height, {}};
  const std::size_t row = 3 * std::size_t(width);
  image.rgb.resize(row * std::size_t(height));
  for (int y = 0; y < height; ++y) {
    yuyv_row_to_rgb(colours, first + std::ptrdiff_t{y} * stride, width,
                    image.rgb.data() + row * std::size_t(y));
  }
  return CameraPicture(std::move(image));
}

}  // namespace engram
