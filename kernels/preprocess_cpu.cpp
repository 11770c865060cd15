// preprocess on the CPU. What is computed: preprocess.h.
//
// Only what the crop keeps is computed. Each needed picture row is resampled across (to bytes, as
// Pillow rounds between its passes) and at once added, with its weight, to the output rows that it
// belongs to; whole-number sums are the same in any order. So scratch memory is 12 bytes per output
// pixel and the weights, at most 16 bytes per pixel of the picture's sides, however odd its shape.
#include "kernels/preprocess.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace engram::cpu {
namespace {

constexpr int kFractionBits = 32 - 8 - 2;  // of a weight: bytes times weights fit an int
constexpr int kHalf = 1 << (kFractionBits - 1);

// The weights of one axis: output i is the sum over j < count of weight[j] * input[first + j].
struct Axis {
  struct Window {
    int first, count;
    std::size_t weights;  // where its weights start
  };
  std::vector<Window> windows;
  std::vector<int> weights;  // whole numbers: the real ones times 2^kFractionBits
  std::vector<double> real;  // of one window, before rounding
};

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

// Outputs [start, start + crop) of `input` pixels resized to `output` ones. The order of operations
// is Pillow's (precompute_coeffs, normalize_coeffs_8bpc): it decides the last bit.
void fill_axis(int input, std::int64_t output, std::int64_t start, int crop, Axis& axis) {
  const double scale = static_cast<double>(input) / static_cast<double>(output);
  const double stretch = std::max(scale, 1.0);  // shrinking: the filter covers what a pixel covers
  const double support = 2.0 * stretch;
  const double per_stretch = 1.0 / stretch;
  axis.windows.clear();
  axis.weights.clear();
  for (int i = 0; i < crop; ++i) {
    const double centre = (static_cast<double>(start + i) + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int end = std::min(input, static_cast<int>(centre + support + 0.5));
    axis.windows.push_back({first, end - first, axis.weights.size()});
    axis.real.clear();
    double sum = 0.0;
    for (int j = first; j < end; ++j) {
      axis.real.push_back(bicubic((j - centre + 0.5) * per_stretch));
      sum += axis.real.back();
    }
    for (double weight : axis.real) {
      if (sum != 0.0) weight /= sum;
      weight *= 1 << kFractionBits;
      axis.weights.push_back(static_cast<int>(weight < 0 ? weight - 0.5 : weight + 0.5));
    }
  }
}

std::uint8_t to_byte(int sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

// One picture row to one row of 3 * crop bytes.
void resample_row(const std::uint8_t* row, const Axis& axis, std::uint8_t* out) {
  for (const Axis::Window& window : axis.windows) {
    const std::uint8_t* pixel = row + 3 * std::ptrdiff_t{window.first};
    const int* weights = axis.weights.data() + window.weights;
    int red = kHalf, green = kHalf, blue = kHalf;
    for (int j = 0; j < window.count; ++j, pixel += 3) {
      red += pixel[0] * weights[j];
      green += pixel[1] * weights[j];
      blue += pixel[2] * weights[j];
    }
    *out++ = to_byte(red);
    *out++ = to_byte(green);
    *out++ = to_byte(blue);
  }
}

void add_weighted(const std::uint8_t* row, int count, int weight, int* sums) {
  for (int i = 0; i < count; ++i) sums[i] += row[i] * weight;
}

struct Scratch {  // kept per thread: after the first frame nothing is allocated
  Axis across, down;
  std::vector<std::uint8_t> row;
  std::vector<int> sums;
};

// The size of one side after resizing, and where the crop starts: torchvision's Resize (the longer
// side is rounded down) and CenterCrop (halves to the even number, as Python's round does).
struct Side {
  std::int64_t size, start;
};
Side resized_side(int side, int shorter, const PreprocessSpec& how) {
  const std::int64_t size =
      how.mode == Resize::squash ? how.resize : std::int64_t{how.resize} * side / shorter;
  const std::int64_t spare = size - how.crop;
  const std::int64_t half = spare / 2;
  return {size, spare % 2 == 0 || half % 2 == 0 ? half : half + 1};
}

}  // namespace

Status preprocess(Stream /*stream*/, MatrixView<const std::uint8_t> picture,
                  const PreprocessSpec& how, MatrixView<float> tensor) {
  ENGRAM_CHECK(picture.rows > 0 && picture.cols > 0 && picture.cols % 3 == 0);
  if (how.crop < 1 || how.resize < how.crop || how.resize > kMaxResize) {
    return {Code::invalid_argument, "preprocess: 1 <= crop <= resize <= 8192 does not hold"};
  }
  if (!std::all_of(how.std.begin(), how.std.end(), [](float s) { return s > 0.0f; })) {
    return {Code::invalid_argument, "preprocess: std must be above 0 in every channel"};
  }
  ENGRAM_CHECK(tensor.rows == 3 && tensor.cols == how.crop * how.crop);

  const int width = picture.cols / 3;
  const int height = picture.rows;
  const int shorter = std::min(width, height);
  const Side across = resized_side(width, shorter, how);
  const Side down = resized_side(height, shorter, how);
  const int crop = how.crop;

  thread_local Scratch scratch;
  fill_axis(width, across.size, across.start, crop, scratch.across);
  fill_axis(height, down.size, down.start, crop, scratch.down);
  scratch.row.resize(3 * std::size_t(crop));
  scratch.sums.assign(3 * std::size_t(crop) * crop, kHalf);

  const std::vector<Axis::Window>& windows = scratch.down.windows;
  const int first_row = windows.front().first;
  const int end_row = windows.back().first + windows.back().count;
  int oldest = 0;  // output rows before it have all their rows
  for (int y = first_row; y < end_row; ++y) {
    resample_row(picture.row(y), scratch.across, scratch.row.data());
    while (windows[oldest].first + windows[oldest].count <= y) ++oldest;
    for (int i = oldest; i < crop && windows[i].first <= y; ++i) {
      const int weight = scratch.down.weights[windows[i].weights + (y - windows[i].first)];
      add_weighted(scratch.row.data(), 3 * crop, weight,
                   scratch.sums.data() + 3 * std::size_t(crop) * i);
    }
  }

  for (int plane = 0; plane < 3; ++plane) {
    const int channel = how.order == ChannelOrder::rgb ? plane : 2 - plane;
    float normalised[256];
    for (int value = 0; value < 256; ++value) {
      normalised[value] = (static_cast<float>(value) - how.mean[channel]) / how.std[channel];
    }
    const int* sums = scratch.sums.data() + channel;
    float* out = tensor.row(plane);
    for (int i = 0; i < crop * crop; ++i) out[i] = normalised[to_byte(sums[3 * i])];
  }
  return Status();
}

}  // namespace engram::cpu
