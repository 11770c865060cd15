// preprocess against its definition in double, read literally, on every shape that is awkward.
// (Against Pillow itself, to the bit: tests/system/preprocess_test.py.)
#include "kernels/preprocess.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/kernel_backends.h"

namespace engram {
namespace {

using test::Backend;
using test::GuardedMatrix;

struct Picture {
  int width, height, stride;
  std::vector<std::uint8_t> bytes;
  PictureView view() const { return {{bytes.data(), height, 3 * width, stride}}; }
};

// Smooth with noise on top: resampling errors show on both.
Picture random_picture(int width, int height, unsigned seed, int spare = 0) {
  Picture p{width, height, 3 * width + spare, {}};
  p.bytes.assign(std::size_t(p.stride) * height, 0xee);
  std::mt19937 random(seed);
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < 3 * width; ++i) {
      const int smooth = (i * 5 / 3 + y * 3) % 200;
      p.bytes[std::size_t(y) * p.stride + i] = std::uint8_t(smooth + random() % 56);
    }
  }
  return p;
}

double bicubic(double x) {
  x = std::fabs(x);
  if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
  if (x < 2) return -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2;
  return 0;
}

double weight_of(Filter filter, double x) {
  return filter == Filter::bicubic ? bicubic(x) : std::max(0.0, 1 - std::fabs(x));
}

// One output of `inputs` pixels resized to `outputs`: every pixel weighted by the stretched filter.
template <class At>
double resampled(Filter filter, int inputs, double outputs, double i, At at) {
  const double scale = inputs / outputs, stretch = std::max(scale, 1.0);
  const double centre = (i + 0.5) * scale;
  double sum = 0, weights = 0;
  const int from = std::max(0, int(centre - 2 * stretch) - 1);
  const int to = std::min(inputs, int(centre + 2 * stretch) + 2);
  for (int j = from; j < to; ++j) {
    const double weight = weight_of(filter, (j + 0.5 - centre) / stretch);
    sum += weight * at(j);
    weights += weight;
  }
  return std::clamp(std::floor(sum / weights + 0.5), 0.0, 255.0);  // bytes after each pass
}

struct Target {
  double size, start;
};
Target target(int side, int shorter, const PreprocessSpec& how) {
  const double size =
      how.mode == Resize::squash ? how.resize : std::floor(double(how.resize) * side / shorter);
  return {size, std::nearbyint((size - how.crop) / 2)};  // halves to even, as Python rounds
}

double defined_pixel(const Picture& p, const PreprocessSpec& how, int channel, int y, int x) {
  const int shorter = std::min(p.width, p.height);
  const Target across = target(p.width, shorter, how), down = target(p.height, shorter, how);
  return resampled(how.filter, p.height, down.size, down.start + y, [&](int row) {
    return resampled(how.filter, p.width, across.size, across.start + x, [&](int column) {
      return double(p.bytes[std::size_t(row) * p.stride + 3 * column + channel]);
    });
  });
}

// On every backend, which must agree to the bit: 3 planes, each with one element more.
std::vector<float> run(PictureView picture, const PreprocessSpec& how) {
  const int pixels = how.crop * how.crop;
  std::vector<GuardedMatrix<float>> results;
  for (const Backend& backend : test::backends(&Kernels::preprocess)) {
    CAPTURE(backend.name);
    GuardedMatrix<float> tensor(3, pixels, 1);
    const Status status =
        test::run(backend, &Kernels::preprocess, picture, how, test::writes(tensor));
    INFO(status.what());
    REQUIRE(status.ok());
    REQUIRE(tensor.untouched());
    results.push_back(tensor);
    REQUIRE(results.back() == results.front());
  }
  const MatrixView<const float> first = results.front().read();
  return {first.data, first.data + 3 * first.stride};
}

struct Shape {
  int width, height, resize, crop;
  Resize mode;
};

const Shape kShapes[] = {
    {40, 30, 20, 16, Resize::shorter_side},   // shrink
    {30, 41, 17, 12, Resize::shorter_side},   // an odd difference: the crop starts at a half
    {30, 42, 17, 12, Resize::shorter_side},   // the other odd difference
    {13, 9, 32, 28, Resize::shorter_side},    // enlarge
    {50, 20, 24, 24, Resize::squash},         // another shape, no crop
    {20, 50, 24, 13, Resize::squash},         //
    {24, 24, 24, 24, Resize::shorter_side},   // nothing to do
    {40, 37, 34, 33, Resize::shorter_side},   // three tiles of a GPU, one of them of one pixel
    {1, 1, 16, 12, Resize::shorter_side},     // one pixel
    {1, 700, 16, 12, Resize::shorter_side},   // a line, down
    {700, 1, 16, 12, Resize::shorter_side},   // a line, across
    {700, 1, 16, 12, Resize::squash},         //
    {301, 203, 16, 16, Resize::shorter_side}  // shrink a lot: long filters
};

}  // namespace

TEST_CASE("preprocess: equals the definition to 1/255", "[kernels][preprocess]") {
  const Shape shape = GENERATE(from_range(std::begin(kShapes), std::end(kShapes)));
  const Filter filter = GENERATE(Filter::bicubic, Filter::bilinear);
  CAPTURE(shape.width, shape.height, shape.resize, shape.crop, int(filter));
  const PreprocessSpec how{
      .resize = shape.resize, .crop = shape.crop, .mode = shape.mode, .filter = filter};
  const Picture p = random_picture(shape.width, shape.height, 1, 5);
  const std::vector<float> tensor = run(p.view(), how);

  int unequal = 0;
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < how.crop * how.crop; ++i) {
      const double want = defined_pixel(p, how, c, i / how.crop, i % how.crop);
      const float got = tensor[c * std::size_t(how.crop * how.crop + 1) + i];
      REQUIRE(std::fabs(got - want) <= 1.0);
      unequal += got != float(want);
    }
  }
  // Weights of 22 bits: rounding rarely differs, but for bilinear weights that are simple fractions, whose
  // sums often lie at a half.
  const int share = filter == Filter::bicubic ? 100 : 20;
  REQUIRE(unequal <= 3 * how.crop * how.crop / share);
}

TEST_CASE("preprocess: a picture of the crop's size passes through", "[kernels][preprocess]") {
  const PreprocessSpec how{.resize = 32, .crop = 32};
  const Picture p = random_picture(32, 32, 2);
  const std::vector<float> tensor = run(p.view(), how);
  for (int i = 0; i < 32 * 32; ++i) REQUIRE(tensor[i] == p.bytes[3 * i]);
}

TEST_CASE("preprocess: order, mean and std go by channel", "[kernels][preprocess]") {
  PreprocessSpec how{.resize = 1, .crop = 1};
  how.mean = {10, 20, 30};
  how.std = {2, 4, 5};
  const Picture p{1, 1, 3, {110, 60, 130}};
  std::vector<float> tensor = run(p.view(), how);
  REQUIRE(std::vector<float>{tensor[0], tensor[2], tensor[4]} == std::vector<float>{50, 10, 20});
  how.order = ChannelOrder::bgr;
  tensor = run(p.view(), how);
  REQUIRE(std::vector<float>{tensor[0], tensor[2], tensor[4]} == std::vector<float>{20, 10, 50});
}

// NV12 in a buffer as a camera gives it, each plane with bytes to spare after every row.
struct Nv12 {
  Nv12(int width, int height, YuvColours c, unsigned seed)
      : luma(height, width, 3), chroma((height + 1) / 2, (width + 1) / 2 * 2, 5), colours(c) {
    std::mt19937 random(seed);
    const auto next = [&random] { return random() % 256; };
    luma.fill(next);
    chroma.fill(next);
  }
  PictureView view() const { return {luma.read(), chroma.read(), colours}; }
  // The same picture in RGB.
  Picture rgb() const {
    Picture p{luma.cols(), luma.rows(), 3 * luma.cols(), {}};
    for (int y = 0; y < p.height; ++y) {
      for (int x = 0; x < p.width; ++x) {
        const Rgb pixel =
            rgb_of(colours, luma(y, x), chroma(y / 2, x / 2 * 2), chroma(y / 2, x / 2 * 2 + 1));
        p.bytes.insert(p.bytes.end(), {pixel.red, pixel.green, pixel.blue});
      }
    }
    return p;
  }
  GuardedMatrix<std::uint8_t> luma, chroma;
  YuvColours colours;
};

TEST_CASE("preprocess: NV12 gives what its pixels in RGB give", "[kernels][preprocess]") {
  const Shape shape = GENERATE(from_range(std::begin(kShapes), std::end(kShapes)));
  CAPTURE(shape.width, shape.height, shape.resize, shape.crop);
  const PreprocessSpec how{.resize = shape.resize, .crop = shape.crop, .mode = shape.mode};
  const Nv12 picture(shape.width, shape.height, kBt601, 5);
  REQUIRE(run(picture.view(), how) == run(picture.rgb().view(), how));
}

TEST_CASE("preprocess: YUV becomes RGB as its standard says", "[kernels][preprocess]") {
  struct Standard {
    YuvColours colours;
    double kr, kb;
    bool full;
  };
  const Standard standard = GENERATE(values<Standard>({{kBt601, 0.299, 0.114, false},
                                                       {kBt601Full, 0.299, 0.114, true},
                                                       {kBt709, 0.2126, 0.0722, false}}));
  const double kg = 1 - standard.kr - standard.kb;
  for (int y = 0; y < 256; y += 3) {
    for (int cb = 0; cb < 256; cb += 5) {
      for (int cr = 0; cr < 256; cr += 5) {
        const double luma = standard.full ? y : (y - 16) * 255.0 / 219;
        const double range = standard.full ? 255.0 : 224.0;
        const double pb = (cb - 128) / range * 255.0, pr = (cr - 128) / range * 255.0;
        const double red = luma + 2 * (1 - standard.kr) * pr;
        const double blue = luma + 2 * (1 - standard.kb) * pb;
        const double green = (luma - standard.kr * red - standard.kb * blue) / kg;
        const Rgb got = rgb_of(standard.colours, y, cb, cr);
        const double off = std::max({std::fabs(std::clamp(red, 0.0, 255.0) - got.red),
                                     std::fabs(std::clamp(green, 0.0, 255.0) - got.green),
                                     std::fabs(std::clamp(blue, 0.0, 255.0) - got.blue)});
        if (off > 0.51) FAIL("YUV " << y << ' ' << cb << ' ' << cr << " is off by " << off);
      }
    }
  }
  const Rgb white = rgb_of(kBt601, 235, 128, 128), black = rgb_of(kBt709, 16, 128, 128);
  REQUIRE((white.red == 255 && white.green == 255 && white.blue == 255));
  REQUIRE((black.red == 0 && black.green == 0 && black.blue == 0));
}

TEST_CASE("preprocess: the longest line costs no more than its crop", "[kernels][preprocess]") {
  // Resized in full it would be 256 x 25.6 million pixels.
  const PreprocessSpec how{.resize = 256, .crop = 224};
  const Picture p = random_picture(1, 100'000, 3);
  const std::vector<float> tensor = run(p.view(), how);
  for (int i : {0, 224 * 112 + 5, 224 * 224 - 1}) {
    REQUIRE(std::fabs(tensor[i] - defined_pixel(p, how, 0, i / 224, i % 224)) <= 1.0);
  }
}

TEST_CASE("preprocess: a senseless request is refused", "[kernels][preprocess]") {
  const Picture p = random_picture(8, 8, 4);
  float tensor[3 * 16] = {};
  for (const PreprocessSpec how :
       {PreprocessSpec{.resize = 3, .crop = 4}, PreprocessSpec{.resize = 4, .crop = 0},
        PreprocessSpec{.resize = kMaxResize + 1, .crop = 4},
        PreprocessSpec{.resize = 4, .crop = 4, .std = {1, 0, 1}}}) {
    REQUIRE(cpu::preprocess(Stream{}, p.view(), how, {tensor, 3, 16, 16}).code() ==
            Code::invalid_argument);
    REQUIRE(simt::preprocess(Stream{}, p.view(), how, {tensor, 3, 16, 16}).code() ==
            Code::invalid_argument);
  }
}

}  // namespace engram
