// Pictures as cameras send them, to RGB.
//
// Colours are those of ITU-R BT.601 in limited range (black 16, white 235), which V4L2 says a camera
// has that does not say otherwise: with y = (Y - 16) / 219, u = (U - 128) / 224, v = (V - 128) / 224
//   R = y + 1.402 v   G = y - 0.344136 u - 0.714136 v   B = y + 1.772 u      times 255, clamped
// A colour counts for the two (YUYV) or four (NV12) pixels that share it; nothing is smoothed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/image.h"
#include "platform/status.h"

namespace engram {

enum class PixelFormat : std::uint8_t {
  jpeg,  // a whole JPEG file; size and stride below are ignored
  yuyv,  // Y0 U Y1 V for two pixels
  nv12,  // a plane of Y, then a plane of U V for 2 x 2 pixels
};

struct FrameLayout {
  PixelFormat format = PixelFormat::jpeg;
  int width = 0, height = 0;
  int stride = 0;  // bytes from one row to the next, in both planes
};

// invalid_argument: no such layout can be: no pixels, too many, rows that overlap.
Status check_layout(const FrameLayout& layout, const std::string& camera);
// The picture in `bytes`. bad_data: too few bytes, or no JPEG. What follows the picture is ignored.
Result<Image> frame_to_rgb(const FrameLayout& layout, std::span<const std::byte> bytes,
                           const std::string& camera);

}  // namespace engram
