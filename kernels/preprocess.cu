// preprocess on the GPU. What is computed: preprocess.h; the weights: preprocess_axis.h.
//
// A block makes 16 x 16 pixels of the tensor. It computes its own weights, in double as the CPU
// does, and goes down the picture 16 rows at a time: each row is resampled across, to bytes in shared
// memory, and then added, with its weight, to the outputs that it belongs to. Whole-number sums are
// the same in any order, so the pixels are the CPU's to the bit. Pixels of NV12 are converted as they
// are read: neighbouring blocks do so again, which costs less than an RGB picture in memory.
#include "kernels/preprocess.h"

#include "kernels/preprocess_axis.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kTile = 16;  // pixels each way; also rows of the picture between two barriers
constexpr int kKept = 64;  // weights of a window kept in shared memory; a longer one is made again

struct Plane {  // of the tensor
  int channel;
  float mean, std;
};
struct Planes {
  Plane first, second, third;
};

// The windows of 16 outputs of one axis.
struct Windows {
  ResampleAxis::Window window[kTile];
  double sum[kTile];
  int kept[kTile][kKept];

  // By one thread, for one output.
  __device__ void fill(const ResampleAxis& axis, int output, int i) {
    const ResampleAxis::Window w = axis.window(output);
    double total = 0.0;
    for (int j = 0; j < w.count; ++j) total += axis.real_weight(w, j);
    window[i] = w;
    sum[i] = total;
    for (int j = 0; j < min(w.count, kKept); ++j) {
      kept[i][j] = ResampleAxis::fixed_weight(axis.real_weight(w, j), total);
    }
  }
  __device__ int weight(const ResampleAxis& axis, int i, int j) const {
    if (j < kKept) return kept[i][j];
    return ResampleAxis::fixed_weight(axis.real_weight(window[i], j), sum[i]);
  }
};

template <bool nv12>
__device__ Rgb pixel_at(const PictureView& picture, int row, int col) {
  if constexpr (nv12) {
    const std::uint8_t* chroma = picture.chroma.row(row / 2) + col / 2 * 2;
    return rgb_of(picture.colours, picture.pixels(row, col), chroma[0], chroma[1]);
  } else {
    const std::uint8_t* rgb = picture.pixels.row(row) + 3 * std::ptrdiff_t{col};
    return {rgb[0], rgb[1], rgb[2]};
  }
}

// grid (ceil(crop / 16), ceil(crop / 16)), block (16, 16).
// The filter is known to the compiler: a choice for each weight would cost registers that are not there.
template <bool nv12, bool bilinear>
__global__ void __launch_bounds__(kTile* kTile)
    preprocess_kernel(PictureView picture, ResampleAxis across, ResampleAxis down, int crop,
                      Planes planes, MatrixView<float> tensor) {
  ENGRAM_SHARED(Windows, columns, [1]);
  ENGRAM_SHARED(Windows, rows, [1]);
  ENGRAM_SHARED(std::uint8_t, bytes, [kTile][kTile][3]);  // picture row, column of the tile
  across.filter = down.filter = bilinear ? Filter::bilinear : Filter::bicubic;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int first_col = static_cast<int>(blockIdx.x) * kTile;
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int tile_cols = min(kTile, crop - first_col), tile_rows = min(kTile, crop - first_row);
  if (y < 2) {  // one warp, all of it at once: doubles are slow on these devices
    const ResampleAxis axis = y == 0 ? across : down;
    (y == 0 ? columns : rows)[0].fill(axis, (y == 0 ? first_col : first_row) + x, x);
  }  // beyond the crop too: no harm
  __syncthreads();

  const bool inside = x < tile_cols && y < tile_rows;
  const ResampleAxis::Window last = rows[0].window[tile_rows - 1];
  const int end = last.first + last.count;
  int sum[3] = {kFixedHalf, kFixedHalf, kFixedHalf};
  for (int top = rows[0].window[0].first; top < end; top += kTile) {
    if (top + y < end && x < tile_cols) {
      const ResampleAxis::Window window = columns[0].window[x];
      int across_sum[3] = {kFixedHalf, kFixedHalf, kFixedHalf};
      for (int j = 0; j < window.count; ++j) {
        const int weight = columns[0].weight(across, x, j);
        const Rgb pixel = pixel_at<nv12>(picture, top + y, window.first + j);
        across_sum[0] += pixel.red * weight;
        across_sum[1] += pixel.green * weight;
        across_sum[2] += pixel.blue * weight;
      }
      for (int c = 0; c < 3; ++c) bytes[y][x][c] = byte_of(across_sum[c]);
    }
    __syncthreads();
    if (inside) {
      const ResampleAxis::Window window = rows[0].window[y];
      const int from = max(top, window.first);
      const int to = min(top + kTile, window.first + window.count);
      for (int row = from; row < to; ++row) {
        const int weight = rows[0].weight(down, y, row - window.first);
        for (int c = 0; c < 3; ++c) sum[c] += bytes[row - top][x][c] * weight;
      }
    }
    __syncthreads();  // the bytes are overwritten next
  }

  if (!inside) return;
  const Plane each[3] = {planes.first, planes.second, planes.third};
#pragma unroll
  for (int p = 0; p < 3; ++p) {
    const auto value = static_cast<float>(byte_of(sum[each[p].channel]));
    tensor(p, (first_row + y) * crop + first_col + x) = (value - each[p].mean) / each[p].std;
  }
}

}  // namespace

Status preprocess(Stream stream, PictureView picture, const PreprocessSpec& how,
                  MatrixView<float> tensor) {
  ENGRAM_CHECK(picture.is_valid());
  ENGRAM_TRY(check_request(how));
  ENGRAM_CHECK(tensor.rows == 3 && tensor.cols == how.crop * how.crop);
  const int width = picture.width(), height = picture.height();
  const int shorter = std::min(width, height);
  const auto plane = [&how](int p) {
    const int channel = how.order == ChannelOrder::rgb ? p : 2 - p;
    const auto i = static_cast<std::size_t>(channel);
    return Plane{channel, how.mean[i], how.std[i]};
  };
  const auto tiles = static_cast<unsigned>(divide_up(how.crop, kTile));
  const bool bilinear = how.filter == Filter::bilinear;
  const auto rgb = bilinear ? preprocess_kernel<false, true> : preprocess_kernel<false, false>;
  const auto nv12 = bilinear ? preprocess_kernel<true, true> : preprocess_kernel<true, false>;
  return launch(picture.is_nv12() ? nv12 : rgb, {dim3(tiles, tiles), dim3(kTile, kTile)}, stream,
                picture, resample_axis(width, shorter, how), resample_axis(height, shorter, how),
                how.crop, Planes{plane(0), plane(1), plane(2)}, tensor);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
