// JPEG: every kind of picture, upright; every way of being broken gets a sentence.
#include <cstdlib>

#include "platform/image.h"
#include "platform/image_codecs.h"
#include "tests/support/catch.h"
#include "tests/support/picture_files.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using test::FileBytes;
using test::JpegKind;
using test::says;

int largest_difference(const Image& a, const Image& b) {
  REQUIRE(a.width == b.width);
  REQUIRE(a.height == b.height);
  int largest = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) {
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  }
  return largest;
}

Image decoded(const FileBytes& file) {
  auto image = decode_image(file, "photo.jpg");
  INFO(image.status().what());
  REQUIRE(image.ok());
  return std::move(image).value();
}

Status refused(const FileBytes& file) {
  const auto image = decode_image(file, "photo.jpg");
  REQUIRE_FALSE(image.ok());
  return image.status();
}

}  // namespace

TEST_CASE("jpeg: a colour picture comes back", "[platform][image]") {
  const Image picture = test::gradient_picture(67, 41);
  REQUIRE(largest_difference(decoded(test::jpeg_file(picture)), picture) <= 8);
}

TEST_CASE("jpeg: grey becomes three equal channels", "[platform][image]") {
  const Image image = decoded(test::jpeg_file(test::gradient_picture(40, 30), JpegKind::grey));
  REQUIRE(image.width == 40);
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    REQUIRE((image.rgb[i] == image.rgb[i + 1] && image.rgb[i] == image.rgb[i + 2]));
  }
}

TEST_CASE("jpeg: four channels are ink, and become the same colours", "[platform][image]") {
  const Image picture = test::gradient_picture(64, 48);
  REQUIRE(largest_difference(decoded(test::jpeg_file(picture, JpegKind::ycck)), picture) <= 16);
}

TEST_CASE("jpeg: each EXIF orientation is turned upright", "[platform][image]") {
  const int orientation = GENERATE(range(1, 9));
  const bool little_endian = GENERATE(true, false);
  CAPTURE(orientation, little_endian);
  const Image stored = decoded(test::jpeg_file(test::gradient_picture(33, 21)));
  const Image upright = decoded(
      test::with_exif(test::jpeg_file(test::gradient_picture(33, 21)), orientation, little_endian));

  // Where EXIF 2.3 says the stored first row and first column are to be seen.
  const auto seen_at = [&](int x, int y) {
    const int right = stored.width - 1 - x, below = stored.height - 1 - y;
    switch (orientation) {
      case 2:
        return std::pair(right, y);
      case 3:
        return std::pair(right, below);
      case 4:
        return std::pair(x, below);
      case 5:
        return std::pair(y, x);
      case 6:
        return std::pair(below, x);
      case 7:
        return std::pair(below, right);
      case 8:
        return std::pair(y, right);
      default:
        return std::pair(x, y);
    }
  };
  REQUIRE(upright.width == (orientation < 5 ? 33 : 21));
  REQUIRE(upright.height == (orientation < 5 ? 21 : 33));
  for (int y = 0; y < stored.height; ++y) {
    for (int x = 0; x < stored.width; ++x) {
      const auto [to_x, to_y] = seen_at(x, y);
      for (int c = 0; c < 3; ++c) {
        REQUIRE(upright.view()(to_y, 3 * to_x + c) == stored.view()(y, 3 * x + c));
      }
    }
  }
}

TEST_CASE("exif: a broken block means upright, at any length", "[platform][image]") {
  const FileBytes file = test::with_exif(test::jpeg_file(test::gradient_picture(8, 8)), 6, true);
  const auto exif = codec::read_jpeg_layout(file).exif;
  REQUIRE(codec::exif_orientation(exif) == 6);
  for (std::size_t size = 0; size < exif.size(); ++size) {
    const int orientation = codec::exif_orientation(exif.first(size));
    REQUIRE((orientation == 1 || orientation == 6));
    if (size < 8 + 2 + 12 + 10) REQUIRE(orientation == 1);
  }
  for (const int nonsense : {0, 9, 255, 65535}) {
    const FileBytes wrong = test::with_exif(file, nonsense, false);
    REQUIRE(codec::exif_orientation(codec::read_jpeg_layout(wrong).exif) == 1);
  }
  FileBytes far(exif.begin(), exif.end());
  for (int i = 4; i < 8; ++i) far[i] = std::byte{0xff};  // the directory at 4 GB
  REQUIRE(codec::exif_orientation(far) == 1);
}

TEST_CASE("jpeg: cut off anywhere, it is refused", "[platform][image]") {
  const FileBytes file = test::jpeg_file(test::gradient_picture(48, 40));
  REQUIRE(decode_image(file, "photo.jpg").ok());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const FileBytes part(file.begin(), file.begin() + std::ptrdiff_t(size));
    REQUIRE(refused(part).code() == Code::bad_data);
  }
  const FileBytes half(file.begin(), file.begin() + std::ptrdiff_t(file.size() / 2));
  REQUIRE(says(refused(half), "photo.jpg: not a readable JPEG (it ends after"));
}

TEST_CASE("jpeg: a segment longer than the file is damage", "[platform][image]") {
  FileBytes file = test::jpeg_file(test::gradient_picture(48, 40));
  file[4] = std::byte{0xff};  // the length of the first one
  REQUIRE(says(refused(file), "cut off or damaged"));
}

TEST_CASE("jpeg: a gap in the middle is refused, though the end is there", "[platform][image]") {
  FileBytes file = test::jpeg_file(test::gradient_picture(200, 160));
  file.erase(file.end() - 2 - std::ptrdiff_t(file.size() / 3), file.end() - 2);
  REQUIRE(says(refused(file), "premature end of data segment"));
}

TEST_CASE("jpeg: bytes behind the end and before a marker do no harm", "[platform][image]") {
  const Image picture = test::gradient_picture(30, 30);
  FileBytes file = test::jpeg_file(picture);
  file.insert(file.end(), 500, std::byte{7});       // what phones append
  file.insert(file.begin() + 20, 3, std::byte{0});  // behind JFIF's segment
  REQUIRE(largest_difference(decoded(file), picture) <= 8);
}

TEST_CASE("jpeg: a bomb is refused by its header", "[platform][image]") {
  FileBytes file = test::jpeg_file(test::gradient_picture(16, 16));
  for (std::size_t i = 0; i + 8 < file.size(); ++i) {
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xc0}) {  // height, width
      for (std::size_t j = 5; j < 9; ++j) file[i + j] = std::byte{0x7f};
      break;
    }
  }
  REQUIRE(says(refused(file), "too large (32639 x 32639 pixels"));
}

}  // namespace engram
