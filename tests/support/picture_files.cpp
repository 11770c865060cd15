#include "tests/support/picture_files.h"

#include <algorithm>
#include <cstring>

#include <png.h>
#include <turbojpeg.h>
#include <zlib.h>

#include "platform/status.h"

namespace engram::test {
namespace {

void append(FileBytes& file, std::initializer_list<int> bytes) {
  for (const int b : bytes) file.push_back(std::byte(b));
}
void append_32(FileBytes& file, std::uint32_t value) {
  append(file,
         {int(value >> 24 & 255), int(value >> 16 & 255), int(value >> 8 & 255), int(value & 255)});
}

std::vector<std::uint8_t> adobe_cmyk(const Image& image) {
  std::vector<std::uint8_t> cmyk;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    const std::uint8_t* p = &image.rgb[i];
    const int light = std::max({int(p[0]), int(p[1]), int(p[2]), 1});
    for (int c = 0; c < 3; ++c) cmyk.push_back(std::uint8_t(p[c] * 255 / light));
    cmyk.push_back(std::uint8_t(light));
  }
  return cmyk;
}

}  // namespace

Image gradient_picture(int width, int height) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.rgb.push_back(std::uint8_t(20 + 220 * x / width));
      image.rgb.push_back(std::uint8_t(20 + 220 * y / height));
      image.rgb.push_back(std::uint8_t(230 - 200 * (x + y) / (width + height)));
    }
  }
  return image;
}

FileBytes jpeg_file(const Image& image, JpegKind kind) {
  tjhandle encoder = tjInitCompress();
  unsigned char* file = nullptr;
  unsigned long size = 0;
  const bool four = kind == JpegKind::ycck;
  const std::vector<std::uint8_t> pixels = four ? adobe_cmyk(image) : image.rgb;
  const int failed =
      tjCompress2(encoder, pixels.data(), image.width, 0, image.height, four ? TJPF_CMYK : TJPF_RGB,
                  &file, &size, kind == JpegKind::grey ? TJSAMP_GRAY : TJSAMP_444, 95, 0);
  ENGRAM_CHECK(failed == 0);
  const auto* begin = reinterpret_cast<const std::byte*>(file);
  const FileBytes bytes(begin, begin + size);
  tjFree(file);
  tjDestroy(encoder);
  return bytes;
}

FileBytes with_exif(const FileBytes& jpeg, int orientation, bool little) {
  FileBytes out(jpeg.begin(), jpeg.begin() + 2);
  append(out, {0xff, 0xe1, 0, 2 + 6 + 8 + 2 + 2 * 12 + 4, 'E', 'x', 'i', 'f', 0, 0});
  const auto number = [&](int value, int size) {
    for (int i = 0; i < size; ++i) append(out, {value >> 8 * (little ? i : size - 1 - i) & 255});
  };
  append(out, {little ? 'I' : 'M', little ? 'I' : 'M'});
  number(42, 2);
  number(8, 4);  // the directory follows
  number(2, 2);  // two entries: the width, which is none of our business, and the orientation
  number(0x0100, 2), number(4, 2), number(1, 4), number(99, 4);
  number(0x0112, 2), number(3, 2), number(1, 4), number(orientation, 2), number(0, 2);
  number(0, 4);
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

FileBytes png_file(int width, int height, PngKind kind, const std::vector<std::uint8_t>& samples,
                   bool transparency) {
  FileBytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep bytes, std::size_t count) {
        auto* to = static_cast<FileBytes*>(png_get_io_ptr(p));
        const auto* from = reinterpret_cast<const std::byte*>(bytes);
        to->insert(to->end(), from, from + count);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
  if (kind.colour_type == PNG_COLOR_TYPE_PALETTE) {
    const png_color palette[4] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 255}};
    png_set_PLTE(png, info, palette, 4);
    const png_byte alpha[4] = {255, 255, 128, 255};
    if (transparency) png_set_tRNS(png, info, alpha, 4, nullptr);
  } else if (transparency) {
    const int first = kind.bits == 16  ? samples[0] << 8 | samples[1]
                      : kind.bits == 8 ? samples[0]
                                       : samples[0] >> (8 - kind.bits);
    png_color_16 key{};
    key.gray = key.red = key.green = key.blue = png_uint_16(first);
    png_set_tRNS(png, info, nullptr, 0, &key);
  }
  png_write_info(png, info);
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  ENGRAM_CHECK(samples.size() == row_bytes * height);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y) {
    rows.push_back(const_cast<png_bytep>(samples.data()) + y * row_bytes);
  }
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

FileBytes png_chunk(const std::string& type, const FileBytes& data) {
  FileBytes chunk;
  append_32(chunk, std::uint32_t(data.size()));
  for (const char c : type) append(chunk, {c});
  chunk.insert(chunk.end(), data.begin(), data.end());
  const auto* checked = reinterpret_cast<const Bytef*>(chunk.data() + 4);
  append_32(chunk, std::uint32_t(crc32(0, checked, uInt(chunk.size() - 4))));
  return chunk;
}

FileBytes png_header(std::uint32_t width, std::uint32_t height) {
  FileBytes file, header;
  append(file, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
  append_32(header, width);
  append_32(header, height);
  append(header, {8, PNG_COLOR_TYPE_RGB, 0, 0, 0});
  const FileBytes chunk = png_chunk("IHDR", header);
  file.insert(file.end(), chunk.begin(), chunk.end());
  return file;
}

}  // namespace engram::test
