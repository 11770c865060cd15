// Random crops: torchvision's rules, and nothing but (seed, epoch, sample) decides. (Pixels against
// Pillow's, to the bit: tests/system/preprocess_test.py.)
#include "engine/augment.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace engram {
namespace {

Image random_picture(int width, int height) {
  Image picture{.width = width, .height = height, .rgb = {}};
  std::mt19937 random(1);
  for (int i = 0; i < 3 * width * height; ++i) picture.rgb.push_back(std::uint8_t(random()));
  return picture;
}

bool same(const RandomCrop& a, const RandomCrop& b) {
  return a.left == b.left && a.top == b.top && a.width == b.width && a.height == b.height &&
         a.mirrored == b.mirrored;
}

std::vector<float> tensor_of(const Image& picture, const RandomCrop& crop,
                             const PreprocessSpec& how) {
  std::vector<float> tensor(3 * std::size_t(how.crop * how.crop));
  const Status status =
      augment(picture, crop, how, {tensor.data(), 3, how.crop * how.crop, how.crop * how.crop});
  INFO(status.what());
  REQUIRE(status.ok());
  return tensor;
}

}  // namespace

TEST_CASE("augment: boxes lie inside and have the area and the ratio that were asked for",
          "[engine][augment]") {
  const int width = 320, height = 240;
  double areas = 0, centres = 0;
  int mirrored = 0, small = 0;
  const int count = 4000;
  for (int i = 0; i < count; ++i) {
    const RandomCrop box = random_crop(width, height, {.seed = 7, .epoch = i % 5, .sample = i});
    REQUIRE((box.left >= 0 && box.top >= 0 && box.width >= 1 && box.height >= 1));
    REQUIRE((box.left + box.width <= width && box.top + box.height <= height));
    const double area = double(box.width) * box.height / (width * height);
    const double ratio = double(box.width) / box.height;
    REQUIRE((area > 0.045 && area <= 1.0));  // sides are whole numbers
    REQUIRE((ratio > 0.74 && ratio < 1.36));
    areas += area;
    centres += (box.left + box.width / 2.0) / width;
    mirrored += box.mirrored;
    small += area < 0.2875;  // a quarter of [0.05, 1], before those that do not fit are drawn again
  }
  REQUIRE(std::abs(centres / count - 0.5) < 0.01);
  REQUIRE(std::abs(mirrored / double(count) - 0.5) < 0.03);
  // Large boxes often do not fit: their share is below that of a uniform draw, by torchvision too.
  REQUIRE((areas / count > 0.40 && areas / count < 0.53));
  REQUIRE((small > count / 4 && small < count / 2));
}

TEST_CASE("augment: the key alone decides", "[engine][augment]") {
  const AugmentKey key{.seed = 3, .epoch = 2, .sample = 11};
  const RandomCrop box = random_crop(200, 150, key);
  (void)random_crop(50, 60, {.seed = 9, .epoch = 1, .sample = 1});
  REQUIRE(same(box, random_crop(200, 150, key)));
  REQUIRE_FALSE(same(box, random_crop(200, 150, {.seed = 4, .epoch = 2, .sample = 11})));
  REQUIRE_FALSE(same(box, random_crop(200, 150, {.seed = 3, .epoch = 3, .sample = 11})));
  REQUIRE_FALSE(same(box, random_crop(200, 150, {.seed = 3, .epoch = 2, .sample = 12})));
}

TEST_CASE("augment: where no box fits it is the middle", "[engine][augment]") {
  const AugmentSpec whole{.least_area = 1.0, .most_area = 1.0};
  for (int sample = 0; sample < 20; ++sample) {
    const AugmentKey key{.seed = 1, .epoch = 0, .sample = sample};
    const RandomCrop tall = random_crop(30, 300, key, whole);
    REQUIRE((tall.width == 30 && tall.height == 40 && tall.left == 0 && tall.top == 130));
    const RandomCrop wide = random_crop(301, 30, key, whole);
    REQUIRE((wide.width == 40 && wide.height == 30 && wide.left == 130 && wide.top == 0));
  }
  const RandomCrop dot = random_crop(1, 1, {});
  REQUIRE((dot.left == 0 && dot.top == 0 && dot.width == 1 && dot.height == 1));
  for (int sample = 0; sample < 50; ++sample) {  // a line of pixels
    const RandomCrop line = random_crop(1, 5000, {.seed = 1, .epoch = 0, .sample = sample});
    REQUIRE((line.width == 1 && line.height >= 1 && line.top + line.height <= 5000));
  }
}

TEST_CASE("augment: the tensor is the box, mirrored, normalised", "[engine][augment]") {
  const Image picture = random_picture(40, 30);
  PreprocessSpec how{.resize = 16, .crop = 8};
  how.mean = {10, 20, 30};
  how.std = {2, 4, 8};
  // A box of the crop's size passes through.
  RandomCrop box{.left = 5, .top = 7, .width = 8, .height = 8, .mirrored = false};
  std::vector<float> tensor = tensor_of(picture, box, how);
  const auto pixel = [&](int x, int y, int c) {
    return (float(picture.rgb[3 * std::size_t(y * 40 + x) + std::size_t(c)]) -
            how.mean[std::size_t(c)]) /
           how.std[std::size_t(c)];
  };
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        REQUIRE(tensor[std::size_t(64 * c + 8 * y + x)] == pixel(5 + x, 7 + y, c));
      }
    }
  }
  box.mirrored = true;
  const std::vector<float> mirrored = tensor_of(picture, box, how);
  for (int row = 0; row < 24; ++row) {
    std::reverse(tensor.begin() + 8 * row, tensor.begin() + 8 * row + 8);
  }
  REQUIRE(mirrored == tensor);
}

}  // namespace engram
