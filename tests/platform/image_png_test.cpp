// PNG: depths, palettes, transparency, interlacing; broken files and bombs.
#include <png.h>
#include <zlib.h>

#include "platform/image.h"
#include "platform/image_codecs.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::FileBytes;
using test::PngKind;
using test::says;
using Rgb = std::vector<std::uint8_t>;

Rgb decoded(const FileBytes& file) {
  const auto image = decode_image(file, "photo.png");
  INFO(image.status().what());
  REQUIRE(image.ok());
  return image->rgb;
}

Status refused(const FileBytes& file) {
  const auto image = decode_image(file, "photo.png");
  REQUIRE_FALSE(image.ok());
  return image.status();
}

FileBytes joined(std::initializer_list<FileBytes> parts) {
  FileBytes all;
  for (const FileBytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("png: grey of each depth", "[platform][image]") {
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 1}, {0x40})) ==
          Rgb{0, 0, 0, 255, 255, 255});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 2}, {0x60})) ==
          Rgb{85, 85, 85, 170, 170, 170});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 4}, {0x1f})) ==
          Rgb{17, 17, 17, 255, 255, 255});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 8}, {3, 200})) ==
          Rgb{3, 3, 3, 200, 200, 200});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 16}, {3, 99, 200, 1})) ==
          Rgb{3, 3, 3, 200, 200, 200});
}

TEST_CASE("png: 16-bit colour keeps the upper bytes", "[platform][image]") {
  REQUIRE(decoded(test::png_file(1, 1, {PNG_COLOR_TYPE_RGB, 16}, {10, 1, 20, 2, 30, 3})) ==
          Rgb{10, 20, 30});
}

TEST_CASE("png: palettes, with and without transparency", "[platform][image]") {
  REQUIRE(decoded(test::png_file(4, 1, {PNG_COLOR_TYPE_PALETTE, 2}, {0x1b})) ==
          Rgb{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_PALETTE, 8}, {0, 2}, true)) ==
          Rgb{255, 0, 0, 127, 127, 255});
}

TEST_CASE("png: what is transparent is laid on white", "[platform][image]") {
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_RGB_ALPHA, 8},
                                 {10, 20, 30, 0, 10, 20, 30, 255})) ==
          Rgb{255, 255, 255, 10, 20, 30});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY_ALPHA, 8}, {0, 51, 100, 255})) ==
          Rgb{204, 204, 204, 100, 100, 100});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_GRAY, 8}, {7, 9}, true)) ==
          Rgb{255, 255, 255, 9, 9, 9});
  REQUIRE(decoded(test::png_file(2, 1, {PNG_COLOR_TYPE_RGB, 8}, {7, 7, 7, 7, 8, 9}, true)) ==
          Rgb{255, 255, 255, 7, 8, 9});
}

TEST_CASE("png: EXIF's orientation is honoured, before and behind the pixels",
          "[platform][image]") {
  const FileBytes plain = test::png_file(2, 2, {PNG_COLOR_TYPE_GRAY, 8}, {1, 2, 3, 4});
  const auto with = [&](int orientation, bool behind, std::size_t cut = 0) {
    const FileBytes jpeg = test::with_exif(test::jpeg_file(test::gradient_picture(8, 8)),
                                           orientation, orientation % 2 == 0);
    const auto exif = codec::read_jpeg_layout(jpeg).exif;
    const FileBytes chunk =
        test::png_chunk("eXIf", FileBytes(exif.begin(), exif.end() - std::ptrdiff_t(cut)));
    const std::ptrdiff_t at = behind ? std::ssize(plain) - 12 : 8 + 25;  // IEND, or behind IHDR
    return joined({FileBytes(plain.begin(), plain.begin() + at), chunk,
                   FileBytes(plain.begin() + at, plain.end())});
  };
  const auto grey = [](const FileBytes& file) {
    const Rgb rgb = decoded(file);
    return std::vector<int>{rgb[0], rgb[3], rgb[6], rgb[9]};
  };
  for (const bool behind : {false, true}) {
    CAPTURE(behind);
    CHECK(grey(with(1, behind)) == std::vector{1, 2, 3, 4});
    CHECK(grey(with(3, behind)) == std::vector{4, 3, 2, 1});
    CHECK(grey(with(6, behind)) == std::vector{3, 1, 4, 2});
    CHECK(grey(with(8, behind)) == std::vector{2, 4, 1, 3});
    CHECK(grey(with(6, behind, 20)) == std::vector{1, 2, 3, 4});  // damaged notes
  }
}

TEST_CASE("png: alpha is kept on request", "[platform][image]") {
  const auto kept = codec::decode_png_with_alpha(
      test::png_file(1, 2, {PNG_COLOR_TYPE_GRAY_ALPHA, 8}, {9, 51, 8, 255}), "stamp.png");
  REQUIRE(kept.ok());
  REQUIRE(kept->rgba == Rgb{9, 9, 9, 51, 8, 8, 8, 255});
  const auto opaque = codec::decode_png_with_alpha(
      test::png_file(1, 1, {PNG_COLOR_TYPE_RGB, 8}, {1, 2, 3}), "stamp.png");
  REQUIRE(opaque.ok());
  REQUIRE(opaque->rgba == Rgb{1, 2, 3, 255});
}

TEST_CASE("png: interlaced is the same picture", "[platform][image]") {
  const Image picture = test::gradient_picture(37, 19);
  for (const bool interlaced : {false, true}) {
    const PngKind kind{PNG_COLOR_TYPE_RGB, 8, interlaced};
    REQUIRE(decoded(test::png_file(37, 19, kind, picture.rgb)) == picture.rgb);
  }
}

TEST_CASE("png: cut off before its picture ends, it is refused", "[platform][image]") {
  const Image picture = test::gradient_picture(20, 20);
  const FileBytes file = test::png_file(20, 20, {PNG_COLOR_TYPE_RGB, 8}, picture.rgb);
  for (std::size_t size = 0; size + 16 < file.size();
       ++size) {  // 16: the checksum and the end chunk
    const FileBytes part(file.begin(), file.begin() + std::ptrdiff_t(size));
    REQUIRE(refused(part).code() == Code::bad_data);
  }
  const FileBytes half(file.begin(), file.begin() + std::ptrdiff_t(file.size() / 2));
  REQUIRE(says(refused(half), "photo.png: not a readable PNG (it ends after"));
}

TEST_CASE("png: a flipped bit is refused or gives a picture, never more", "[platform][image]") {
  const Image picture = test::gradient_picture(8, 8);
  const FileBytes file = test::png_file(8, 8, {PNG_COLOR_TYPE_RGB, 8, true}, picture.rgb);
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    FileBytes flipped = file;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    const auto image = decode_image(flipped, "photo.png");
    if (image.ok()) REQUIRE(image->rgb == picture.rgb);  // in a chunk that does not matter
  }
}

TEST_CASE("png: bombs are refused by their header", "[platform][image]") {
  REQUIRE(says(refused(test::png_header(10'000, 10'000)), "too large (10000 x 10000 pixels"));
  REQUIRE(says(refused(test::png_header(3'000'000'000u, 1)), "too large"));
  REQUIRE(says(refused(test::png_header(1, 100'001)), "too large"));
  REQUIRE(says(refused(test::png_header(0, 5)), "has no pixels"));
}

TEST_CASE("png: a bomb behind a chunk that looks like a small header", "[platform][image]") {
  FileBytes comment(10);  // reads as 1 x 1 where the header's size would be
  comment[3] = comment[7] = std::byte{1};
  const FileBytes bomb = test::png_header(10'000, 10'000);
  const auto header = bomb.begin() + 8;
  const FileBytes file =
      joined({FileBytes(bomb.begin(), header), test::png_chunk("tEXt", comment),
              FileBytes(header, bomb.end()), test::png_chunk("IDAT", FileBytes(20))});
  REQUIRE(says(refused(file), "too large (10000 x 10000 pixels"));
}

TEST_CASE("png: a profile that unpacks to 200 MB is not unpacked", "[platform][image]") {
  const std::vector<std::uint8_t> zeros(200'000'000);
  std::vector<std::uint8_t> packed(compressBound(zeros.size()));
  uLongf size = packed.size();
  REQUIRE(compress2(packed.data(), &size, zeros.data(), zeros.size(), 1) == Z_OK);
  FileBytes profile{std::byte{'p'}, std::byte{0}, std::byte{0}};  // name, method
  for (uLongf i = 0; i < size; ++i) profile.push_back(std::byte(packed[i]));

  const FileBytes plain = test::png_file(1, 1, {PNG_COLOR_TYPE_RGB, 8}, {1, 2, 3});
  const auto middle = plain.begin() + 8 + 25;  // behind the signature and the header chunk
  const FileBytes file = joined({FileBytes(plain.begin(), middle), test::png_chunk("iCCP", profile),
                                 test::png_chunk("zTXt", profile), FileBytes(middle, plain.end())});
  REQUIRE(decoded(file) == Rgb{1, 2, 3});
}

TEST_CASE("png: what is written is read back", "[platform][image]") {
  const test::TempDirectory directory;
  const std::string path = directory / "out.png";
  const Image picture = test::gradient_picture(31, 17);
  REQUIRE(write_png(path, picture).ok());
  const auto read = read_image(path);
  REQUIRE(read.ok());
  REQUIRE(read->rgb == picture.rgb);
  REQUIRE_FALSE(write_png(directory / "no/such/out.png", picture).ok());
}

}  // namespace engram
