// Pictures: decoded to RGB bytes, upright, whatever the file held.
//
// JPEG (grey, YCbCr, RGB, CMYK, YCCK; EXIF orientation honoured) and PNG (1 to 16 bits, palette,
// grey, alpha). What is transparent is laid on white. Decoding is bounded: the header is read first
// and a picture of more than kMaxPixels, or longer than kMaxSide, is refused before memory is
// taken. A file that ends before its picture does is an error, not a picture with a grey half.
// Which decoder reads a file is decided by its first bytes, never by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

inline constexpr std::int64_t kMaxPixels = 64'000'000;
inline constexpr std::int64_t kMaxSide = 100'000;  // JPEG's own limit is 65 535
inline constexpr std::size_t kMaxImageBytes = 256'000'000;

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // height rows of 3 * width bytes

  MatrixView<const std::uint8_t> view() const { return {rgb.data(), height, 3 * width, 3 * width}; }
};

struct ImageWithAlpha {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // height rows of 4 * width bytes, alpha not multiplied in
};

// Messages start with `name`, the file as the user knows it.
Result<Image> read_image(const std::string& path);
Result<Image> decode_image(std::span<const std::byte> bytes, const std::string& name);
Result<ImageWithAlpha> read_png_with_alpha(const std::string& path);
Status write_png(const std::string& path, const Image& image);
// A JPEG file in `file`, whose memory is used again; quality 1 to 100.
Status encode_jpeg(const Image& image, int quality, std::vector<std::byte>& file);
// Paths below `directory` (recursively, sorted by name) that end like a picture: .jpg .jpeg .png in
// any case; search_pictures() (picture_folder.h), whose words about what is left out are dropped.
Result<std::vector<std::string>> find_images(const std::string& directory);
bool ends_like_a_picture(const std::string& path);
// A file, and a picture by its first bytes or by its name.
bool is_picture_file(const std::string& path);

}  // namespace engram
