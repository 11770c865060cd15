// Picture files made in memory for tests: the kinds that people bring, and broken ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/image.h"

namespace engram::test {

using FileBytes = std::vector<std::byte>;

// Colours that differ in every pixel and in every corner, smooth enough for JPEG.
Image gradient_picture(int width, int height);

enum class JpegKind { colour, grey, ycck };
// Of quality 95 without subsampling. ycck: four channels as Adobe stores them, black from the RGB.
FileBytes jpeg_file(const Image& image, JpegKind kind = JpegKind::colour);
// The same file with an EXIF block behind its start marker that says `orientation`.
FileBytes with_exif(const FileBytes& jpeg, int orientation, bool little_endian);

struct PngKind {
  int colour_type;  // PNG_COLOR_TYPE_...
  int bits;
  bool interlaced = false;
};
// `samples` as libpng wants rows: packed below 8 bits, big-endian at 16. A palette of four colours
// (red, green, blue, white; the third half transparent when `transparency`) goes with type palette;
// for grey and RGB `transparency` makes the first sample value transparent.
FileBytes png_file(int width, int height, PngKind kind, const std::vector<std::uint8_t>& samples,
                   bool transparency = false);
// A PNG chunk with its length and checksum.
FileBytes png_chunk(const std::string& type, const FileBytes& data);
// PNG's signature and header chunk only, of any claimed size.
FileBytes png_header(std::uint32_t width, std::uint32_t height);

}  // namespace engram::test
