// What attention and attention_back are made of on the GPU: tiles of rows of a head in shared memory, and
// their products.
//
// A block owns kRows rows of one head of a picture and meets the other rows of that picture kRows at a
// time. Eight threads share two of its rows: of scores, thread t of them has columns t, t + 8, ...; of sums
// of rows, columns 4 t to 4 t + 3 of every 32. Rows lie kHead + 4 numbers apart: then no two of eight
// threads that read four numbers of a row each meet in a bank.
//
//     widest head 64     32 rows, 128 threads
//     widest head 128    16 rows, 64 threads
//
// A head that is narrower, and rows that are not there, are zeros in shared memory.
#pragma once

#include <limits>

#include "platform/launch.h"
#include "platform/matrix_view.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

template <int kHead>
constexpr int tile_rows = kHead == 64 ? 32 : 16;
template <int kHead>
constexpr int tile_threads = 4 * tile_rows<kHead>;

// Of a head: blocks that share keys and values run side by side, and find them in the cache.
ENGRAM_HOST_DEVICE constexpr int tiles_of(int tokens, int rows) {
  return (tokens + rows - 1) / rows;
}

template <int kHead>
using RowTile = float[tile_rows<kHead>][kHead + 4];
template <int kHead>
using ScoreTile = float[tile_rows<kHead>][tile_rows<kHead> + 4];

// Of a thread: scores of its two rows, and its part of two rows of sums.
template <int kHead>
using Scores = float[2][tile_rows<kHead> / 8];
template <int kHead>
using RowSums = float[2][kHead / 8];

// Rows [first, first + kRows) of `from`, as far as it has them.
template <int kHead>
__device__ __forceinline__ void load_tile(MatrixView<const float> from, int first,
                                          RowTile<kHead>& tile) {
  constexpr int kRows = tile_rows<kHead>, kThreads = tile_threads<kHead>;
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x); at < kRows * kHead; at += kThreads) {
    const int r = at / kHead, c = at % kHead;
    const bool is_there = first + r < from.rows && c < from.cols;
    tile[r][c] = is_there ? from(first + r, c) : 0.0f;
  }
}

// scores[i][j] = left[2 * pair + i] . right[t + 8 j]
template <int kHead>
__device__ __forceinline__ void row_products(const RowTile<kHead>& left,
                                             const RowTile<kHead>& right, int pair, int t,
                                             Scores<kHead>& scores) {
  constexpr int kColumns = tile_rows<kHead> / 8;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) scores[i][j] = 0.0f;
  }
#pragma unroll 2
  for (int c = 0; c < kHead; c += 4) {
    const float4 a[2] = {load_vector<float4>(&left[2 * pair][c]),
                         load_vector<float4>(&left[2 * pair + 1][c])};
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const float4 b = load_vector<float4>(&right[t + 8 * j][c]);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float& sum = scores[i][j];
        sum = fmaf(a[i].w, b.w, fmaf(a[i].z, b.z, fmaf(a[i].y, b.y, fmaf(a[i].x, b.x, sum))));
      }
    }
  }
}

// sums[i] += sum over k of weights[2 * pair + i][k] * rows[k], of this thread's columns.
template <int kHead>
__device__ __forceinline__ void add_rows(const ScoreTile<kHead>& weights,
                                         const RowTile<kHead>& rows, int pair, int t,
                                         RowSums<kHead>& sums) {
  constexpr int kRows = tile_rows<kHead>, kParts = kHead / 32;
#pragma unroll 1
  for (int k = 0; k < kRows; k += 4) {
    const float4 p = load_vector<float4>(&weights[2 * pair][k]);
    const float4 q = load_vector<float4>(&weights[2 * pair + 1][k]);
    const float weight[2][4] = {{p.x, p.y, p.z, p.w}, {q.x, q.y, q.z, q.w}};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const float4 row = load_vector<float4>(&rows[k + e][32 * part + 4 * t]);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float* const sum = &sums[i][4 * part];
          sum[0] = fmaf(weight[i][e], row.x, sum[0]);
          sum[1] = fmaf(weight[i][e], row.y, sum[1]);
          sum[2] = fmaf(weight[i][e], row.z, sum[2]);
          sum[3] = fmaf(weight[i][e], row.w, sum[3]);
        }
      }
    }
  }
}

// factor[i] * sums[i] into rows [first, first + kRows) of `to`, as far as it has them.
template <int kHead>
__device__ __forceinline__ void store_rows(const RowSums<kHead>& sums, const float (&factor)[2],
                                           int first, int pair, int t, MatrixView<float> to) {
  constexpr int kColumns = kHead / 8;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int r = first + 2 * pair + i;
#pragma unroll
    for (int s = 0; s < kColumns; ++s) {
      const int c = 32 * (s / 4) + 4 * t + s % 4;
      if (r < to.rows && c < to.cols) to(r, c) = factor[i] * sums[i][s];
    }
  }
}

// Columns [left, left + width) of rows [top, top + count).
template <class T>
__device__ __forceinline__ MatrixView<T> part_of(MatrixView<T> all, int top, int count, int left,
                                                 int width) {
  return {all.row(top) + left, count, width, all.stride};
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
