// (Pixels against Pillow's, to the bit: tests/system/preprocess_test.py.)
#include "engine/bounded_picture.h"

#include <cmath>

#include "tests/support/catch.h"

namespace engram {
namespace {

Image slope(int width, int height) {
  Image picture{.width = width, .height = height, .rgb = {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        picture.rgb.push_back(std::uint8_t(c == 0   ? 255 * x / width
                                           : c == 1 ? 255 * y / height
                                                    : 7));
      }
    }
  }
  return picture;
}

}  // namespace

TEST_CASE("bounded picture: a small one stays as it is", "[engine][bounded_picture]") {
  const Image picture = slope(40, 200);
  REQUIRE(bounded_picture(picture, 40).rgb == picture.rgb);
  REQUIRE(bounded_picture(picture, 41).height == 200);
}

TEST_CASE("bounded picture: the shorter side shrinks to the bound", "[engine][bounded_picture]") {
  const Image tall = bounded_picture(slope(90, 200), 30),
              wide = bounded_picture(slope(200, 90), 30);
  REQUIRE((tall.width == 30 && tall.height == 66 && tall.rgb.size() == 3 * 30 * 66));
  REQUIRE((wide.width == 66 && wide.height == 30));
  for (int y = 2; y < 28; ++y) {  // a slope stays a slope
    for (int x = 2; x < 64; ++x) {
      const std::uint8_t* pixel = wide.rgb.data() + 3 * (y * 66 + x);
      REQUIRE(std::abs(pixel[0] - 255 * (x + 0.5) / 66) < 2.5);
      REQUIRE(std::abs(pixel[1] - 255 * (y + 0.5) / 30) < 3.5);
      REQUIRE(pixel[2] == 7);
    }
  }
  const Image line = bounded_picture(slope(3, 5000), 1);
  REQUIRE((line.width == 1 && line.height == 1666));
}

}  // namespace engram
