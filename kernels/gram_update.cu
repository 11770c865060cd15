// gram_update on the GPU. Math, shapes and numerics: gram_update.h.
//
// A block owns a tile of 64 x 64 of the lower triangle, reads and writes it once per 256 frames, and
// is limited by that. The products come from the tensor cores: whole numbers up to 255 are exact as
// halves, and their sums below 2^24 are exact as floats, in whatever order a tensor core adds. The
// block looks at the numbers as it stages them; 32 frames with a number that is not whole, or beyond
// 255, are multiplied as floats instead.
//
// Blocks go through the triangle in bands of eight rows of tiles, column by column: the columns of h
// that they read are then met eight times while they are still in the cache.
//
//     grid (8 T, ceil(T / 8)), T = ceil(M / 64)        warps of a tile
//
//       band 0   0  8 16                               | 0  1 |   32 x 32 each, of 2 x 4 products
//                1  9 17     above the diagonal        | 2  3 |   of 16 x 8
//                2 10 ..     blocks leave at once
#include "kernels/gram_update.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kPassFrames = 256;  // per pass over G: 256 * 255^2 < 2^24
constexpr int kTile = 64;
constexpr int kThreads = 128;
constexpr int kStageFrames = 32;          // between two barriers
constexpr int kPairs = kStageFrames / 2;  // of frames: the halves of a word
constexpr int kRowWords = kTile + 8;      // the eight spare ones keep 32 lanes in 32 banks
constexpr int kQuads = kTile / 4;         // of columns: what a thread reads at once
constexpr int kThreadPairs = kPairs * kQuads / kThreads;
constexpr int kBand = 8;  // rows of tiles
constexpr float kLargestWhole = 255.0f;

using Panel = std::uint32_t[kPairs][kRowWords];  // word (p, c): column c of the frames 2p, 2p + 1
using Sums = float[2][4][4];

struct Aligned {
  bool h, g;  // for 128-bit and 64-bit accesses
};

__device__ __forceinline__ bool is_whole(float value) {
  constexpr float kNoFraction = 12582912.0f;  // 1.5 * 2^23: a sum with it has no bits for one
  const bool is_small = fabsf(value) <= kLargestWhole;
  const bool has_no_fraction = (value + kNoFraction) - kNoFraction == value;
  return is_small & has_no_fraction;  // no branch
}

// Columns [first, first + 64) of 32 frames, zero where there are none. Are they whole numbers? A
// thread takes four neighbouring columns of two pairs of frames.
__device__ __forceinline__ bool stage(MatrixView<const float> h, int frame, int first, bool vectors,
                                      Panel& panel) {
  const int thread = static_cast<int>(threadIdx.x);
  const int quad = 4 * (thread % kQuads), first_pair = thread / kQuads, col = first + quad;
  float value[kThreadPairs][2][4] = {};
  if (vectors && col + 4 <= h.cols) {
#pragma unroll
    for (int i = 0; i < 2 * kThreadPairs; ++i) {
      const int b = frame + 2 * (first_pair + kThreads / kQuads * (i / 2)) + i % 2;
      const float4 four = b < h.rows ? load_vector<float4>(h.row(b) + col) : float4{};
      float(&to)[4] = value[i / 2][i % 2];
      to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    }
  } else {
#pragma unroll
    for (int i = 0; i < 2 * kThreadPairs; ++i) {
      const int b = frame + 2 * (first_pair + kThreads / kQuads * (i / 2)) + i % 2;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        if (b < h.rows && col + c < h.cols) value[i / 2][i % 2][c] = h(b, col + c);
      }
    }
  }
  bool whole = true;
#pragma unroll
  for (int p = 0; p < kThreadPairs; ++p) {
    std::uint32_t words[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const bool both[2] = {is_whole(value[p][0][c]), is_whole(value[p][1][c])};
      whole = whole & both[0] & both[1];
      words[c] = pack_halves(value[p][0][c], value[p][1][c]);
    }
    store_vector(panel[first_pair + kThreads / kQuads * p] + quad,
                 uint4{words[0], words[1], words[2], words[3]});
  }
  return whole;
}

// sum += leftT right, of a warp's rows and columns. Lane 4g + t: rows g and g + 8 of `left`, column
// g of `right`, frames 2t, 2t + 1 and eight further on.
__device__ __forceinline__ void multiply_whole(const Panel& left, const Panel& right, int row,
                                               int col, int lane, Sums& sum) {
  const int g = lane / 4, t = lane % 4;
#pragma unroll
  for (int pair = 0; pair < kPairs; pair += 8) {
    std::uint32_t a[2][4], b[4][2];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      a[0][r] = left[pair + t + 4 * (r / 2)][row + g + 8 * (r % 2)];
      a[1][r] = left[pair + t + 4 * (r / 2)][row + 16 + g + 8 * (r % 2)];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      b[j][0] = right[pair + t][col + 8 * j + g];
      b[j][1] = right[pair + t + 4][col + 8 * j + g];
      mma_f16(sum[0][j], a[0], b[j]);
      mma_f16(sum[1][j], a[1], b[j]);
    }
  }
}

// Where in G the sum (i, j, r) of a lane belongs, given its warp's place.
__device__ __forceinline__ int row_of(int row, int lane, int i, int r) {
  return row + 16 * i + lane / 4 + 8 * (r / 2);
}
__device__ __forceinline__ int col_of(int col, int lane, int j, int r) {
  return col + 8 * j + 2 * (lane % 4) + r % 2;
}

// The same sums from the floats themselves.
__device__ __forceinline__ void multiply_real(MatrixView<const float> h, int frame, int row,
                                              int col, int lane, Sums& sum) {
  const int end = min(frame + kStageFrames, h.rows), last = h.cols - 1;
#pragma unroll 1
  for (int b = frame; b < end; ++b) {
    const float* values = h.row(b);
    float left[2][2], right[4][2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
      for (int i = 0; i < 2; ++i) left[i][r] = values[min(row_of(row, lane, i, 2 * r), last)];
#pragma unroll
      for (int j = 0; j < 4; ++j) right[j][r] = values[min(col_of(col, lane, j, r), last)];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          sum[i][j][r] = fmaf(left[i][r / 2], right[j][r % 2], sum[i][j][r]);
        }
      }
    }
  }
}

__device__ __forceinline__ void add(GramView g, int row, int col, float value) {
  if (row >= g.size) return;
  if (col < row) {
    g.row(row)[col] += value;
  } else if (col == row) {
    g.diagonal[row] += value;
  }
}

__global__ void __launch_bounds__(kThreads)
    gram_update_kernel(MatrixView<const float> h, float sign, GramView g, Aligned aligned) {
  ENGRAM_SHARED(std::uint32_t, left, [kPairs][kRowWords]);
  ENGRAM_SHARED(std::uint32_t, right, [kPairs][kRowWords]);
  const int first_row = static_cast<int>(blockIdx.y * kBand + blockIdx.x % kBand) * kTile;
  const int first_col = static_cast<int>(blockIdx.x / kBand) * kTile;
  if (first_col > first_row) return;
  if (first_row >= g.size) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / 2 * 32, col = warp % 2 * 32;  // of the warp in the tile

  Sums sum = {};
  for (int frame = 0; frame < h.rows; frame += kStageFrames) {
    const bool whole_rows = stage(h, frame, first_row, aligned.h, left);
    const bool whole_cols = stage(h, frame, first_col, aligned.h, right);
    if (__syncthreads_and(whole_rows && whole_cols)) {
      multiply_whole(left, right, row, col, lane, sum);
    } else {
      multiply_real(h, frame, first_row + row, first_col + col, lane, sum);
    }
    __syncthreads();  // the panels are overwritten next
  }

#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int r = 0; r < 4; r += 2) {  // two neighbours in a row
        const int to_row = row_of(first_row + row, lane, i, r);
        const int to_col = col_of(first_col + col, lane, j, r);
        const float gained[2] = {sign * sum[i][j][r], sign * sum[i][j][r + 1]};
        if (aligned.g && to_row < g.size && to_col + 1 < to_row) {
          auto pair = load_vector<float2>(g.row(to_row) + to_col);
          pair.x += gained[0];
          pair.y += gained[1];
          store_vector(g.row(to_row) + to_col, pair);
        } else {
          add(g, to_row, to_col, gained[0]);
          add(g, to_row, to_col + 1, gained[1]);
        }
      }
    }
  }
}

}  // namespace

Status gram_update(Stream stream, MatrixView<const float> h, float sign, GramView g) {
  ENGRAM_CHECK(h.cols == g.size);
  if (g.size == 0) return Status();
  const int tiles = divide_up(g.size, kTile);
  const dim3 grid(static_cast<unsigned>(kBand * tiles),
                  static_cast<unsigned>(divide_up(tiles, kBand)));
  const Aligned vectors{
      .h = aligned(h.data, sizeof(float) * static_cast<std::size_t>(h.stride), 16),
      .g = aligned(g.data, sizeof(float) * static_cast<std::size_t>(g.stride), 8)};
  for (int frame = 0; frame < h.rows; frame += kPassFrames) {
    const int frames = h.rows - frame < kPassFrames ? h.rows - frame : kPassFrames;
    ENGRAM_TRY(launch(gram_update_kernel, {grid, dim3(kThreads)}, stream,
                      h.row_range(frame, frames), sign, g, vectors));
  }
  return Status();
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
