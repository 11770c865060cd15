// Any bytes as a picture: refused with a sentence, or pixels of the promised size.
#include <png.h>

#include "platform/image.h"
#include "platform/image_codecs.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/picture_files.h"

using namespace engram;

namespace {

// A small file may rightly hold millions of pixels; fuzzing has no time to look at them.
bool claims_many_pixels(codec::Bytes file) {
  const auto number = [&](std::size_t at, int size) {
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | codec::byte_at(file, at + i);
    return value;
  };
  constexpr std::uint64_t kMany = 512;
  if (codec::is_png(file))
    return file.size() >= 24 && (number(16, 4) > kMany || number(20, 4) > kMany);
  for (std::size_t i = 0; i + 8 < file.size(); ++i) {
    const int marker = codec::byte_at(file, i + 1);  // a frame: SOF0..15, not DHT, JPG, DAC
    const bool frame = codec::byte_at(file, i) == 0xff && marker >= 0xc0 && marker <= 0xcf &&
                       marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame && (number(i + 5, 2) > kMany || number(i + 7, 2) > kMany)) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const codec::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (claims_many_pixels(bytes)) return 0;
  const auto image = decode_image(bytes, "fuzz");
  if (image.ok()) {
    const std::size_t expected = std::size_t(3) * image->width * image->height;
    ENGRAM_CHECK(expected > 0 && image->rgb.size() == expected);
  }
  if (codec::is_png(bytes)) {
    ENGRAM_CHECK(codec::decode_png_with_alpha(bytes, "fuzz").ok() == image.ok());
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  const Image picture = test::gradient_picture(24, 17);
  const std::vector<std::uint8_t> rgba(4 * 9 * 5, 77);
  std::vector<std::string> seeds;
  for (const test::FileBytes& file :
       {test::jpeg_file(picture), test::jpeg_file(picture, test::JpegKind::grey),
        test::jpeg_file(picture, test::JpegKind::ycck),
        test::with_exif(test::jpeg_file(picture), 6, true),
        test::png_file(24, 17, {PNG_COLOR_TYPE_RGB, 8, true}, picture.rgb, true),
        test::png_file(9, 5, {PNG_COLOR_TYPE_RGB_ALPHA, 8}, rgba),
        test::png_file(4, 1, {PNG_COLOR_TYPE_PALETTE, 2}, {0x1b}, true)}) {
    ENGRAM_CHECK(!claims_many_pixels(file) && decode_image(file, "seed").ok());
    seeds.emplace_back(reinterpret_cast<const char*>(file.data()), file.size());
  }
  return seeds;
}
