// preprocess on the CPU. What is computed: preprocess.h.
//
// Only what the crop keeps is computed. Each needed picture row is resampled across (to bytes, as
// Pillow rounds between its passes) and at once added, with its weight, to the output rows that it
// belongs to; whole-number sums are the same in any order. So scratch memory is 12 bytes per output
// pixel, the weights, at most 16 bytes per pixel of the picture's sides, however odd its shape, and
// for NV12 one row as RGB.
#include "kernels/preprocess.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/preprocess_axis.h"

namespace engram::cpu {
namespace {

// The weights of one axis.
struct Axis {
  struct Window {
    int first, count;
    std::size_t weights;  // where its weights start
  };
  std::vector<Window> windows;
  std::vector<int> weights;  // whole numbers: the real ones times 2^kFractionBits
  std::vector<double> real;  // of one window, before rounding
};

void fill_axis(const ResampleAxis& how, int crop, Axis& axis) {
  axis.windows.clear();
  axis.weights.clear();
  for (int i = 0; i < crop; ++i) {
    const ResampleAxis::Window window = how.window(i);
    axis.windows.push_back({window.first, window.count, axis.weights.size()});
    axis.real.clear();
    double sum = 0.0;
    for (int j = 0; j < window.count; ++j) {
      axis.real.push_back(how.real_weight(window, j));
      sum += axis.real.back();
    }
    for (const double weight : axis.real) {
      axis.weights.push_back(ResampleAxis::fixed_weight(weight, sum));
    }
  }
}

// One picture row to one row of 3 * crop bytes.
void resample_row(const std::uint8_t* row, const Axis& axis, std::uint8_t* out) {
  for (const Axis::Window& window : axis.windows) {
    const std::uint8_t* pixel = row + 3 * std::ptrdiff_t{window.first};
    const int* weights = axis.weights.data() + window.weights;
    int red = kFixedHalf, green = kFixedHalf, blue = kFixedHalf;
    for (int j = 0; j < window.count; ++j, pixel += 3) {
      red += pixel[0] * weights[j];
      green += pixel[1] * weights[j];
      blue += pixel[2] * weights[j];
    }
    *out++ = byte_of(red);
    *out++ = byte_of(green);
    *out++ = byte_of(blue);
  }
}

// Row y of an NV12 picture as RGB.
void convert_row(const PictureView& picture, int y, std::uint8_t* rgb) {
  const std::uint8_t* luma = picture.pixels.row(y);
  const std::uint8_t* chroma = picture.chroma.row(y / 2);
  for (int x = 0; x < picture.width(); ++x) {
    const Rgb pixel = rgb_of(picture.colours, luma[x], chroma[x / 2 * 2], chroma[x / 2 * 2 + 1]);
    *rgb++ = pixel.red;
    *rgb++ = pixel.green;
    *rgb++ = pixel.blue;
  }
}

void add_weighted(const std::uint8_t* row, int count, int weight, int* sums) {
  for (int i = 0; i < count; ++i) sums[i] += row[i] * weight;
}

struct Scratch {  // kept per thread: after the first frame nothing is allocated
  Axis across, down;
  std::vector<std::uint8_t> rgb, row;
  std::vector<int> sums;
};

}  // namespace

Status preprocess(Stream /*stream*/, PictureView picture, const PreprocessSpec& how,
                  MatrixView<float> tensor) {
  ENGRAM_CHECK(picture.is_valid());
  ENGRAM_TRY(check_request(how));
  ENGRAM_CHECK(tensor.rows == 3 && tensor.cols == how.crop * how.crop);

  const int width = picture.width();
  const int height = picture.height();
  const int shorter = std::min(width, height);
  const int crop = how.crop;

  thread_local Scratch scratch;
  fill_axis(resample_axis(width, shorter, how), crop, scratch.across);
  fill_axis(resample_axis(height, shorter, how), crop, scratch.down);
  scratch.rgb.resize(picture.is_nv12() ? 3 * std::size_t(width) : 0);
  scratch.row.resize(3 * std::size_t(crop));
  scratch.sums.assign(3 * std::size_t(crop) * crop, kFixedHalf);

  const std::vector<Axis::Window>& windows = scratch.down.windows;
  const int first_row = windows.front().first;
  const int end_row = windows.back().first + windows.back().count;
  int oldest = 0;  // output rows before it have all their rows
  for (int y = first_row; y < end_row; ++y) {
    const std::uint8_t* rgb = picture.pixels.row(y);
    if (picture.is_nv12()) {
      convert_row(picture, y, scratch.rgb.data());
      rgb = scratch.rgb.data();
    }
    resample_row(rgb, scratch.across, scratch.row.data());
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
    for (int i = 0; i < crop * crop; ++i) out[i] = normalised[byte_of(sums[3 * i])];
  }
  return Status();
}

}  // namespace engram::cpu
