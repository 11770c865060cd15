#include "platform/camera_pixels.h"

#include <algorithm>

#include <fmt/format.h>

namespace engram {
namespace {

// Whole numbers of 2^-20: near enough that every rounded byte is the definition's.
constexpr int kBits = 20;
constexpr int fixed(double value) {
  return static_cast<int>(value * (1 << kBits) + 0.5);
}
constexpr int kY = fixed(255.0 / 219), kRv = fixed(1.402 * 255 / 224);
constexpr int kGu = fixed(0.344136 * 255 / 224), kGv = fixed(0.714136 * 255 / 224);
constexpr int kBu = fixed(1.772 * 255 / 224);

std::uint8_t byte_of(int sum) {
  return static_cast<std::uint8_t>(std::clamp((sum + (1 << (kBits - 1))) >> kBits, 0, 255));
}

void write_pixel(int luma, int u, int v, std::uint8_t* rgb) {
  const int y = kY * (luma - 16);
  rgb[0] = byte_of(y + kRv * (v - 128));
  rgb[1] = byte_of(y - kGu * (u - 128) - kGv * (v - 128));
  rgb[2] = byte_of(y + kBu * (u - 128));
}

void yuyv_row(const std::uint8_t* row, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    const std::uint8_t* pair = row + 4 * (x / 2);
    write_pixel(pair[2 * (x % 2)], pair[1], pair[3], rgb);
  }
}

void nv12_row(const std::uint8_t* luma, const std::uint8_t* colours, int width, std::uint8_t* rgb) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    const std::uint8_t* pair = colours + 2 * (x / 2);
    write_pixel(luma[x], pair[0], pair[1], rgb);
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

Result<Image> frame_to_rgb(const FrameLayout& layout, std::span<const std::byte> bytes,
                           const std::string& camera) {
  if (layout.format == PixelFormat::jpeg) return decode_image(bytes, camera);
  ENGRAM_TRY(check_layout(layout, camera));
  if (static_cast<std::int64_t>(bytes.size()) < frame_bytes(layout)) {
    return Status(Code::bad_data, fmt::format("{}: a picture came with {} bytes instead of {}",
                                              camera, bytes.size(), frame_bytes(layout)));
  }
  Image image{layout.width, layout.height, {}};
  image.rgb.resize(std::size_t(layout.width) * layout.height * 3);
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const auto stride = static_cast<std::ptrdiff_t>(layout.stride);
  for (std::ptrdiff_t y = 0; y < layout.height; ++y) {
    std::uint8_t* rgb = image.rgb.data() + y * layout.width * 3;
    if (layout.format == PixelFormat::yuyv) {
      yuyv_row(first + y * stride, layout.width, rgb);
    } else {
      nv12_row(first + y * stride, first + (layout.height + y / 2) * stride, layout.width, rgb);
    }
  }
  return image;
}

}  // namespace engram
