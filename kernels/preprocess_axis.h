// How a side of a picture is resampled: what preprocess needs on every backend, to the last bit.
//
// Output i of an axis is the sum over j < count of weight[j] * input[first + j], in fixed point. The
// order of operations is Pillow's (precompute_coeffs, normalize_coeffs_8bpc): it decides the last
// bit. Compile what includes this without fused multiply-adds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/preprocess.h"

namespace engram {

inline constexpr int kFractionBits = 32 - 8 - 2;  // of a weight: bytes times weights fit an int
inline constexpr int kFixedHalf = 1 << (kFractionBits - 1);

struct ResampleAxis {
  int input;           // pixels of the picture
  std::int64_t start;  // of the crop, in resized pixels
  double scale;        // picture's pixels to one resized
  double support;      // of the filter, to each side
  double per_stretch;
  Filter filter;

  struct Window {
    int first, count;
    double centre;
  };
  ENGRAM_HOST_DEVICE Window window(int i) const {
    const double centre = (static_cast<double>(start + i) + 0.5) * scale;
    const int begin = static_cast<int>(centre - support + 0.5);
    const int end = static_cast<int>(centre + support + 0.5);
    const int first = begin < 0 ? 0 : begin;
    return {first, (end < input ? end : input) - first, centre};
  }
  // The weight of pixel first + j, before all of a window are divided by their sum.
  ENGRAM_HOST_DEVICE double real_weight(const Window& window, int j) const {
    constexpr double a = -0.5;
    const double signed_x = (window.first + j - window.centre + 0.5) * per_stretch;
    const double x = signed_x < 0.0 ? -signed_x : signed_x;
    if (filter == Filter::bilinear) return x < 1.0 ? 1.0 - x : 0.0;
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
  }
  ENGRAM_HOST_DEVICE static int fixed_weight(double weight, double sum) {
    if (sum != 0.0) weight /= sum;
    weight *= 1 << kFractionBits;
    return static_cast<int>(weight < 0 ? weight - 0.5 : weight + 0.5);
  }
};

// A side of `input` pixels resized to `size`, of which those from `start` on are wanted.
inline ResampleAxis resample_axis(int input, std::int64_t size, std::int64_t start, Filter filter) {
  const double scale = static_cast<double>(input) / static_cast<double>(size);
  const double stretch = std::max(scale, 1.0);  // shrinking: the filter covers what a pixel covers
  const double reach = filter == Filter::bilinear ? 1.0 : 2.0;
  return {.input = input,
          .start = start,
          .scale = scale,
          .support = reach * stretch,
          .per_stretch = 1.0 / stretch,
          .filter = filter};
}

// A side resized, and where the crop starts: torchvision's Resize (the longer side is rounded down)
// and CenterCrop (halves to the even number, as Python's round does).
inline ResampleAxis resample_axis(int side, int shorter, const PreprocessSpec& how) {
  const std::int64_t size =
      how.mode == Resize::squash ? how.resize : std::int64_t{how.resize} * side / shorter;
  const std::int64_t spare = size - how.crop;
  const std::int64_t half = spare / 2;
  const std::int64_t start = spare % 2 == 0 || half % 2 == 0 ? half : half + 1;
  return resample_axis(side, size, start, how.filter);
}

ENGRAM_HOST_DEVICE inline std::uint8_t byte_of(int fixed_sum) {
  const int value = fixed_sum >> kFractionBits;
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

inline Status check_request(const PreprocessSpec& how) {
  if (how.crop < 1 || how.resize < how.crop || how.resize > kMaxResize) {
    return {Code::invalid_argument, "preprocess: 1 <= crop <= resize <= 8192 does not hold"};
  }
  if (!std::all_of(how.std.begin(), how.std.end(), [](float s) { return s > 0.0f; })) {
    return {Code::invalid_argument, "preprocess: std must be above 0 in every channel"};
  }
  return Status();
}

}  // namespace engram
