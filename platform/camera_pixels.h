// Pictures as cameras send them: JPEG and YUYV become RGB, NV12 stays as it is (camera_picture.h).
//
// A colour counts for the two (YUYV) or four (NV12) pixels that share it; nothing is smoothed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/camera_picture.h"
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
  YuvColours colours = kBt601;
};

// invalid_argument: no such layout can be: no pixels, too many, rows that overlap.
Status check_layout(const FrameLayout& layout, const std::string& camera);
// The picture in `bytes`. bad_data: too few bytes, or no JPEG. What follows the picture is ignored.
Result<CameraPicture> read_frame(const FrameLayout& layout, std::span<const std::byte> bytes,
                                 const std::string& camera);

}  // namespace engram
