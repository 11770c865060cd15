#include "kernels/resample_cpu.h"

namespace engram::cpu {
namespace {

void fill_axis(const ResampleAxis& how, int outputs, WeightedAxis& axis) {
  axis.windows.clear();
  axis.weights.clear();
  for (int i = 0; i < outputs; ++i) {
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

// One picture row to one row of bytes.
void resample_row(const std::uint8_t* row, const WeightedAxis& axis, std::uint8_t* out) {
  for (const WeightedAxis::Window& window : axis.windows) {
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

void add_weighted(const std::uint8_t* row, int count, int weight, int* sums) {
  for (int i = 0; i < count; ++i) sums[i] += row[i] * weight;
}

}  // namespace

void resample(const PictureView& picture, const ResampleAxis& across, int cols,
              const ResampleAxis& down, int rows, ResampleScratch& scratch) {
  fill_axis(across, cols, scratch.across);
  fill_axis(down, rows, scratch.down);
  const std::size_t values = 3 * static_cast<std::size_t>(cols);
  scratch.rgb.resize(picture.is_nv12() ? 3 * static_cast<std::size_t>(picture.width()) : 0);
  scratch.row.resize(values);
  scratch.sums.assign(values * static_cast<std::size_t>(rows), kFixedHalf);

  const std::vector<WeightedAxis::Window>& windows = scratch.down.windows;
  const int first_row = windows.front().first;
  const int end_row = windows.back().first + windows.back().count;
  int oldest = 0;  // output rows before it have all their rows
  for (int y = first_row; y < end_row; ++y) {
    const std::uint8_t* rgb = picture.pixels.row(y);
    if (picture.is_nv12()) {
      nv12_row_to_rgb(picture, y, scratch.rgb.data());
      rgb = scratch.rgb.data();
    }
    resample_row(rgb, scratch.across, scratch.row.data());
    while (windows[oldest].first + windows[oldest].count <= y) ++oldest;
    for (int i = oldest; i < rows && windows[i].first <= y; ++i) {
      const int weight = scratch.down.weights[windows[i].weights + (y - windows[i].first)];
      add_weighted(scratch.row.data(), static_cast<int>(values), weight,
                   scratch.sums.data() + values * static_cast<std::size_t>(i));
    }
  }
}

}  // namespace engram::cpu
