// attention_back on the GPU: probabilities are computed again, once by blocks that own keys, for dk and dv,
// and once by blocks that own queries, for dq. So every sum is one block's, in a fixed order. Math and
// shapes: attention_back.h; tiles: attention_device.h.
//
// dout . out of a query and head is needed by all of them. It waits where the first number of its dq will
// be, which the last kernel writes.
#include "kernels/attention_back.h"

#include "kernels/attention_device.h"
#include "kernels/warp_sum_device.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kWarps = 4;

// dqkv[row, left of a head] = dout . out. grid (R, ceil(H / kWarps)), block (32, kWarps).
__global__ void __launch_bounds__(32 * kWarps)
    inner_kernel(MatrixView<const float> dout, MatrixView<const float> out, int heads,
                 MatrixView<float> dqkv) {
  const int row = static_cast<int>(blockIdx.x), width = out.cols / heads;
  const int head = static_cast<int>(blockIdx.y) * kWarps + static_cast<int>(threadIdx.y);
  if (head >= heads) return;  // the whole warp
  float sum = 0.0f;
  for (int c = static_cast<int>(threadIdx.x); c < width; c += 32) {
    sum = fmaf(dout(row, head * width + c), out(row, head * width + c), sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) dqkv(row, head * width) = sum;
}

// The matrices of a head of a picture.
struct Head {
  __device__ __forceinline__ Head(MatrixView<const float> all_dout, MatrixView<const float> qkv,
                                  int tokens, int heads, int index, MatrixView<float> dqkv) {
    const int all = all_dout.cols, width = all / heads;
    const int top = index / heads * tokens, left = index % heads * width;
    dout = part_of(all_dout, top, tokens, left, width);
    q = part_of(qkv, top, tokens, left, width);
    k = part_of(qkv, top, tokens, all + left, width);
    v = part_of(qkv, top, tokens, 2 * all + left, width);
    dq = part_of(dqkv, top, tokens, left, width);
    dk = part_of(dqkv, top, tokens, all + left, width);
    dv = part_of(dqkv, top, tokens, 2 * all + left, width);
  }
  MatrixView<const float> dout, q, k, v;
  MatrixView<float> dq, dk, dv;
};

// dk and dv. grid (B * H * ceil(S / kRows)). Rows of a block are keys, columns are queries. Registers for
// three blocks of a multiprocessor: for four, which there is shared memory for, they would not suffice.
template <int kHead>
__global__ void __launch_bounds__(tile_threads<kHead>, 3)
    key_kernel(MatrixView<const float> all_dout, MatrixView<const float> qkv,
               MatrixView<const float> logsums, int tokens, int heads, float scale,
               MatrixView<float> dqkv) {
  constexpr int kRows = tile_rows<kHead>, kColumns = kRows / 8;
  ENGRAM_SHARED(RowTile<kHead>, keys);
  ENGRAM_SHARED(RowTile<kHead>, values);
  ENGRAM_SHARED(RowTile<kHead>, queries);
  ENGRAM_SHARED(RowTile<kHead>, douts);
  ENGRAM_SHARED(ScoreTile<kHead>, weights);
  const int pair = static_cast<int>(threadIdx.x) / 8, t = static_cast<int>(threadIdx.x) % 8;
  const int index = static_cast<int>(blockIdx.x) / tiles_of(tokens, kRows);
  const int first = static_cast<int>(blockIdx.x) % tiles_of(tokens, kRows) * kRows;
  const Head head(all_dout, qkv, tokens, heads, index, dqkv);
  load_tile<kHead>(head.k, first, keys);
  load_tile<kHead>(head.v, first, values);
  RowSums<kHead> dk = {}, dv = {};
  for (int tile = 0; tile < tokens; tile += kRows) {
    load_tile<kHead>(head.q, tile, queries);
    load_tile<kHead>(head.dout, tile, douts);
    __syncthreads();
    Scores<kHead> p, change;
    row_products<kHead>(keys, queries, pair, t, p);
    row_products<kHead>(values, douts, pair, t, change);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int query = tile + t + 8 * j;
      const bool is_there = query < tokens;
      const float logsum = is_there ? logsums(index, query) : 0.0f;
      const float inner = is_there ? head.dq(query, 0) : 0.0f;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        p[i][j] = is_there ? expf(fmaf(scale, p[i][j], -logsum)) : 0.0f;
        change[i][j] = p[i][j] * (change[i][j] - inner);
        weights[2 * pair + i][t + 8 * j] = p[i][j];
      }
    }
    __syncwarp();  // the eight threads of two rows are of one warp
    add_rows<kHead>(weights, douts, pair, t, dv);
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) weights[2 * pair + i][t + 8 * j] = change[i][j];
    }
    __syncwarp();
    add_rows<kHead>(weights, queries, pair, t, dk);
    __syncthreads();
  }
  store_rows<kHead>(dk, {scale, scale}, first, pair, t, head.dk);
  store_rows<kHead>(dv, {1.0f, 1.0f}, first, pair, t, head.dv);
}

// dq. grid (B * H * ceil(S / kRows)). Rows of a block are queries, columns are keys.
template <int kHead>
__global__ void __launch_bounds__(tile_threads<kHead>)
    query_kernel(MatrixView<const float> all_dout, MatrixView<const float> qkv,
                 MatrixView<const float> logsums, int tokens, int heads, float scale,
                 MatrixView<float> dqkv) {
  constexpr int kRows = tile_rows<kHead>, kColumns = kRows / 8;
  ENGRAM_SHARED(RowTile<kHead>, queries);
  ENGRAM_SHARED(RowTile<kHead>, douts);
  ENGRAM_SHARED(RowTile<kHead>, keys);
  ENGRAM_SHARED(RowTile<kHead>, values);
  ENGRAM_SHARED(ScoreTile<kHead>, weights);
  const int pair = static_cast<int>(threadIdx.x) / 8, t = static_cast<int>(threadIdx.x) % 8;
  const int index = static_cast<int>(blockIdx.x) / tiles_of(tokens, kRows);
  const int first = static_cast<int>(blockIdx.x) % tiles_of(tokens, kRows) * kRows;
  const Head head(all_dout, qkv, tokens, heads, index, dqkv);
  load_tile<kHead>(head.q, first, queries);
  load_tile<kHead>(head.dout, first, douts);
  float logsum[2], inner[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {  // rows that are not there repeat the last and store nothing
    const int query = min(first + 2 * pair + i, tokens - 1);
    logsum[i] = logsums(index, query);
    inner[i] = head.dq(query, 0);
  }
  RowSums<kHead> dq = {};
  for (int tile = 0; tile < tokens; tile += kRows) {
    load_tile<kHead>(head.k, tile, keys);
    load_tile<kHead>(head.v, tile, values);
    __syncthreads();
    Scores<kHead> p, change;
    row_products<kHead>(queries, keys, pair, t, p);
    row_products<kHead>(douts, values, pair, t, change);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const bool is_there = tile + t + 8 * j < tokens;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float weight = is_there ? expf(fmaf(scale, p[i][j], -logsum[i])) : 0.0f;
        weights[2 * pair + i][t + 8 * j] = weight * (change[i][j] - inner[i]);
      }
    }
    __syncwarp();  // the eight threads of two rows are of one warp
    add_rows<kHead>(weights, keys, pair, t, dq);
    __syncthreads();
  }
  store_rows<kHead>(dq, {scale, scale}, first, pair, t, head.dq);
}

}  // namespace

Status attention_back(Stream stream, MatrixView<const float> dout, MatrixView<const float> qkv,
                      MatrixView<const float> out, MatrixView<const float> logsums, int tokens,
                      int heads, float scale, MatrixView<float> dqkv) {
  check_attention(qkv, tokens, heads, out, logsums);
  ENGRAM_CHECK(dout.rows == out.rows && dout.cols == out.cols);
  ENGRAM_CHECK(dqkv.rows == qkv.rows && dqkv.cols == qkv.cols);
  if (qkv.rows == 0) return Status();
  const dim3 heads_grid(static_cast<unsigned>(out.rows),
                        static_cast<unsigned>(divide_up(heads, kWarps)));
  ENGRAM_TRY(launch(inner_kernel, {heads_grid, dim3(32, kWarps)}, stream, dout, out, heads, dqkv));
  const auto start = [&](auto kernel, int rows, int threads) {
    const dim3 grid(static_cast<unsigned>(logsums.rows * tiles_of(tokens, rows)));
    return launch(kernel, {grid, dim3(static_cast<unsigned>(threads))}, stream, dout, qkv, logsums,
                  tokens, heads, scale, dqkv);
  };
  if (out.cols / heads <= 64) {
    ENGRAM_TRY(start(key_kernel<64>, tile_rows<64>, tile_threads<64>));
    return start(query_kernel<64>, tile_rows<64>, tile_threads<64>);
  }
  ENGRAM_TRY(start(key_kernel<128>, tile_rows<128>, tile_threads<128>));
  return start(query_kernel<128>, tile_rows<128>, tile_threads<128>);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
