#include "engine/augment.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "platform/philox.h"

namespace engram {
namespace {

constexpr int kTries = 10;

struct Uniforms {
  double first, second;  // in [0, 1), 53 bits each
};

Uniforms uniforms(const AugmentKey& key, std::uint32_t draw) {
  const PhiloxWords words = philox({draw, std::uint32_t(key.epoch), std::uint32_t(key.sample),
                                    std::uint32_t(PhiloxStream::augment)},
                                   key.seed);
  const auto number = [](std::uint32_t high, std::uint32_t low) {
    return double((std::uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
  };
  return {number(words[0], words[1]), number(words[2], words[3])};
}

// Rounded as Python does; what cannot be an int is as far from fitting.
int rounded(double value) {
  return int(std::nearbyint(std::clamp(value, 0.0, 1e9)));
}

RandomCrop centre(int width, int height, const AugmentSpec& spec) {
  const double ratio = double(width) / double(height);
  RandomCrop box{.left = 0, .top = 0, .width = width, .height = height};
  if (ratio < spec.narrowest) box.height = std::clamp(rounded(width / spec.narrowest), 1, height);
  if (ratio > spec.widest) box.width = std::clamp(rounded(height * spec.widest), 1, width);
  box.left = (width - box.width) / 2;
  box.top = (height - box.height) / 2;
  return box;
}

RandomCrop placed_box(int width, int height, const AugmentKey& key, const AugmentSpec& spec) {
  const double from = std::log(spec.narrowest), to = std::log(spec.widest);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const Uniforms shape = uniforms(key, std::uint32_t(2 * attempt));
    const double area = double(width) * double(height) *
                        (spec.least_area + (spec.most_area - spec.least_area) * shape.first);
    const double ratio = std::exp(from + (to - from) * shape.second);
    const int across = rounded(std::sqrt(area * ratio)), down = rounded(std::sqrt(area / ratio));
    if (across < 1 || down < 1 || across > width || down > height) continue;
    const Uniforms place = uniforms(key, std::uint32_t(2 * attempt + 1));
    return {.left = int(place.first * (width - across + 1)),
            .top = int(place.second * (height - down + 1)),
            .width = across,
            .height = down};
  }
  return centre(width, height, spec);
}

}  // namespace

RandomCrop random_crop(int width, int height, const AugmentKey& key, const AugmentSpec& spec) {
  ENGRAM_CHECK(width >= 1 && height >= 1);
  RandomCrop box = placed_box(width, height, key, spec);
  box.mirrored = uniforms(key, 2 * kTries).first < spec.mirrored;
  return box;
}

Status augment(const Image& picture, const RandomCrop& crop, const PreprocessSpec& how,
               MatrixView<float> tensor, const Kernels& kernels) {
  ENGRAM_CHECK(crop.left >= 0 && crop.left + crop.width <= picture.width);
  ENGRAM_CHECK(crop.top >= 0 && crop.top + crop.height <= picture.height);
  PreprocessSpec resized = how;
  resized.resize = how.crop;
  resized.mode = Resize::squash;
  resized.filter = Filter::bilinear;
  const MatrixView<const std::uint8_t> all = picture.view();
  const PictureView box{
      {all.row(crop.top) + 3 * std::ptrdiff_t{crop.left}, crop.height, 3 * crop.width, all.stride}};
  ENGRAM_TRY(kernels.preprocess({}, box, resized, tensor));
  if (!crop.mirrored) return {};
  for (int plane = 0; plane < 3; ++plane) {
    for (int y = 0; y < how.crop; ++y) {
      float* row = tensor.row(plane) + std::ptrdiff_t{y} * how.crop;
      std::reverse(row, row + how.crop);
    }
  }
  return {};
}

}  // namespace engram
