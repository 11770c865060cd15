// What the parts of the picture reader share; for platform/image*.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "platform/image.h"
#include "platform/status.h"

namespace engram::codec {

using Bytes = std::span<const std::byte>;

inline std::uint8_t byte_at(Bytes bytes, std::size_t i) {
  return std::to_integer<std::uint8_t>(bytes[i]);
}

// "812 bytes", "48 kB", "3.2 MB"
std::string readable_size(std::size_t bytes);
// bad_data unless 1 <= width, height <= kMaxSide and width * height <= kMaxPixels. Called with the
// header's numbers, before memory for the pixels is taken.
Status check_dimensions(const std::string& name, std::int64_t width, std::int64_t height);

// --- JPEG: image_jpeg.cpp, image_jpeg_markers.cpp ---
bool is_jpeg(Bytes file);
Result<Image> decode_jpeg(Bytes file, const std::string& name);

struct JpegLayout {
  bool complete = false;  // the end-of-image marker was reached; false: cut off or damaged
  Bytes exif;             // the TIFF block of the first APP1 "Exif" segment before the picture data
};
JpegLayout read_jpeg_layout(Bytes file);

// --- orientation: image_exif.cpp ---
// IFD0's tag 0x0112 of a TIFF block: 1..8. 1 (upright) when it is absent or the block is broken: a
// picture with damaged notes is still a picture.
int exif_orientation(Bytes tiff);
// The picture as it is to be seen, given how EXIF says it was stored.
Image turned_upright(Image stored, int orientation);

// --- PNG: image_png.cpp ---
bool is_png(Bytes file);
Result<Image> decode_png(Bytes file, const std::string& name);  // alpha laid on white
Result<ImageWithAlpha> decode_png_with_alpha(Bytes file, const std::string& name);

}  // namespace engram::codec
