// attention on the GPU: a block owns some queries of a head and meets the keys a tile at a time; what it has
// so far is scaled anew when a tile holds a larger score (online softmax). Math, shapes and numerics:
// attention.h; tiles: attention_device.h.
#include "kernels/attention.h"

#include "kernels/attention_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Of eight threads, in each of them.
__device__ __forceinline__ float largest_of_eight(float value) {
#pragma unroll
  for (int step = 4; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  }
  return value;
}
__device__ __forceinline__ float sum_of_eight(float value) {
#pragma unroll
  for (int step = 4; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// grid (B * H * ceil(S / kRows)).
template <int kHead>
__global__ void __launch_bounds__(tile_threads<kHead>)
    attention_kernel(MatrixView<const float> qkv, int tokens, int heads, float scale,
                     MatrixView<float> out, MatrixView<float> logsums) {
  constexpr int kRows = tile_rows<kHead>, kColumns = kRows / 8, kSums = kHead / 8;
  ENGRAM_SHARED(RowTile<kHead>, queries);
  ENGRAM_SHARED(RowTile<kHead>, keys);
  ENGRAM_SHARED(RowTile<kHead>, values);
  ENGRAM_SHARED(ScoreTile<kHead>, weights);
  const int pair = static_cast<int>(threadIdx.x) / 8, t = static_cast<int>(threadIdx.x) % 8;
  const int index = static_cast<int>(blockIdx.x) / tiles_of(tokens, kRows);
  const int first = static_cast<int>(blockIdx.x) % tiles_of(tokens, kRows) * kRows;
  const int width = out.cols / heads, top = index / heads * tokens, left = index % heads * width;
  const auto q = part_of(qkv, top, tokens, left, width);
  const auto k = part_of(qkv, top, tokens, out.cols + left, width);
  const auto v = part_of(qkv, top, tokens, 2 * out.cols + left, width);
  load_tile<kHead>(q, first, queries);
  RowSums<kHead> sums = {};
  float largest[2] = {kMinusInfinity, kMinusInfinity}, total[2] = {};
  for (int tile = 0; tile < tokens; tile += kRows) {
    load_tile<kHead>(k, tile, keys);
    load_tile<kHead>(v, tile, values);
    __syncthreads();
    Scores<kHead> scores;
    row_products<kHead>(queries, keys, pair, t, scores);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float here = largest[i];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        scores[i][j] = tile + t + 8 * j < tokens ? scale * scores[i][j] : kMinusInfinity;
        here = fmaxf(here, scores[i][j]);
      }
      here = largest_of_eight(here);
      const float before = expf(largest[i] - here);  // 0 in the first tile
      largest[i] = here;
      total[i] *= before;
#pragma unroll
      for (int s = 0; s < kSums; ++s) sums[i][s] *= before;
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float weight = expf(scores[i][j] - here);
        total[i] += weight;
        weights[2 * pair + i][t + 8 * j] = weight;
      }
    }
    __syncwarp();  // the eight threads of two rows are of one warp
    add_rows<kHead>(weights, values, pair, t, sums);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    total[i] = sum_of_eight(total[i]);
    const int r = first + 2 * pair + i;
    if (t == 0 && r < tokens) logsums(index, r) = largest[i] + logf(total[i]);
  }
  const float share[2] = {1.0f / total[0], 1.0f / total[1]};
  store_rows<kHead>(sums, share, first, pair, t, part_of(out, top, tokens, left, width));
}

}  // namespace

Status attention(Stream stream, MatrixView<const float> qkv, int tokens, int heads, float scale,
                 MatrixView<float> out, MatrixView<float> logsums) {
  check_attention(qkv, tokens, heads, out, logsums);
  if (qkv.rows == 0) return Status();
  const auto start = [&](auto kernel, int rows, int threads) {
    const dim3 grid(static_cast<unsigned>(logsums.rows * tiles_of(tokens, rows)));
    return launch(kernel, {grid, dim3(static_cast<unsigned>(threads))}, stream, qkv, tokens, heads,
                  scale, out, logsums);
  };
  if (out.cols / heads <= 64) return start(attention_kernel<64>, tile_rows<64>, tile_threads<64>);
  return start(attention_kernel<128>, tile_rows<128>, tile_threads<128>);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
