// combine_rows on the CPU. Math, shapes and numerics: combine_rows.h.
//
// The columns are cut into strips, one piece of work each. In a strip, 128 samples at a time become
// floats (32 KiB: the first-level cache), and tiles of 4 sums by 16 columns, which stay in
// registers, take them up.
#include "kernels/combine_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd_cpu.h"
#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kStripCols = 64;
constexpr int kStripRows = 128;
constexpr int kTileRows = 4;
constexpr int kTileCols = 16;

// gained[i][c] = sum over n of weights[i][n] * strip[n][c], for 4 rows and 16 columns.
using Tile = void(const float* const (&weights)[kTileRows], const float* strip, int count,
                  float (&gained)[kTileRows][kTileCols]);

inline __attribute__((always_inline)) void tile_loop(const float* const (&weights)[kTileRows],
                                                     const float* __restrict strip, int count,
                                                     float (&gained)[kTileRows][kTileCols]) {
  // The compiler makes no vectors of this by itself.
  using Lanes = float __attribute__((vector_size(32)));
  Lanes sum[kTileRows][2] = {};
  for (int n = 0; n < count; ++n, strip += kStripCols) {
    Lanes left, right;
    std::memcpy(&left, strip, sizeof(Lanes));
    std::memcpy(&right, strip + 8, sizeof(Lanes));
    for (int i = 0; i < kTileRows; ++i) {
      sum[i][0] += weights[i][n] * left;
      sum[i][1] += weights[i][n] * right;
    }
  }
  static_assert(sizeof(sum) == sizeof(gained));
  std::memcpy(gained, sum, sizeof(sum));
}

void tile_portable(const float* const (&weights)[kTileRows], const float* strip, int count,
                   float (&gained)[kTileRows][kTileCols]) {
  tile_loop(weights, strip, count, gained);
}
#if defined(__x86_64__)
ENGRAM_AVX2 void tile_avx2(const float* const (&weights)[kTileRows], const float* strip, int count,
                           float (&gained)[kTileRows][kTileCols]) {
  tile_loop(weights, strip, count, gained);
}
#endif

// Columns [first, first + width) of `sums`, width <= kStripCols.
void add_strip(Tile* tile, MatrixView<const float> weights, KeptView kept, MatrixView<float> sums,
               int first, int width) {
  alignas(64) float strip[kStripRows * kStripCols];
  for (int top = 0; top < kept.rows; top += kStripRows) {
    const int count = std::min(kStripRows, kept.rows - top);
    for (int n = 0; n < count; ++n) {
      const std::uint8_t* __restrict bytes = kept.byte_row(top + n) + first;
      float* __restrict out = strip + n * kStripCols;
      for (int c = 0; c < width; ++c) out[c] = float(bytes[c]);
      std::fill(out + width, out + kStripCols, 0.0f);
    }
    for (int r = 0; r < weights.rows; r += kTileRows) {
      // Rows beyond the end repeat the last one: computed, and not stored.
      const float* rows[kTileRows];
      for (int i = 0; i < kTileRows; ++i) {
        rows[i] = weights.row(std::min(r + i, weights.rows - 1)) + top;
      }
      for (int col = 0; col < width; col += kTileCols) {
        float gained[kTileRows][kTileCols];
        tile(rows, strip + col, count, gained);
        for (int i = 0; i < std::min(kTileRows, weights.rows - r); ++i) {
          float* out = sums.row(r + i) + first + col;
          for (int c = 0; c < std::min(kTileCols, width - col); ++c) out[c] += gained[i][c];
        }
      }
    }
  }
}

// Few sums, where reading the samples is all the work: long runs of a row, four rows at a time.
constexpr int kFewRows = 4;
constexpr int kFewCols = 1024;

using FewSums = void(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums,
                     int first, int width);

inline __attribute__((always_inline)) void few_loop(MatrixView<const float> weights, KeptView kept,
                                                    MatrixView<float> sums, int first, int width) {
  alignas(64) float gained[kFewCols];
  for (int top = 0; top < kept.rows; top += kStripRows) {
    const int end = std::min(top + kStripRows, kept.rows);
    for (int r = 0; r < weights.rows; ++r) {
      const float* weight = weights.row(r);
      std::fill_n(gained, width, 0.0f);
      int n = top;
      for (; n + 4 <= end; n += 4) {
        const std::uint8_t* __restrict a = kept.byte_row(n) + first;
        const std::uint8_t* __restrict b = a + kept.cols;
        const std::uint8_t* __restrict c = b + kept.cols;
        const std::uint8_t* __restrict d = c + kept.cols;
        for (int m = 0; m < width; ++m) {
          gained[m] += weight[n] * float(a[m]) + weight[n + 1] * float(b[m]) +
                       weight[n + 2] * float(c[m]) + weight[n + 3] * float(d[m]);
        }
      }
      for (; n < end; ++n) {
        const std::uint8_t* __restrict a = kept.byte_row(n) + first;
        for (int m = 0; m < width; ++m) gained[m] += weight[n] * float(a[m]);
      }
      float* __restrict out = sums.row(r) + first;
      for (int m = 0; m < width; ++m) out[m] += gained[m];
    }
  }
}

void few_portable(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums, int first,
                  int width) {
  few_loop(weights, kept, sums, first, width);
}
#if defined(__x86_64__)
ENGRAM_AVX2 void few_avx2(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums,
                          int first, int width) {
  few_loop(weights, kept, sums, first, width);
}
#endif

void add_few(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums) {
  FewSums* few = few_portable;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) few = few_avx2;
#endif
  parallel_for((sums.cols + kFewCols - 1) / kFewCols, 1, [&](int begin, int end) {
    for (int s = begin; s < end; ++s) {
      const int first = s * kFewCols;
      few(weights, kept, sums, first, std::min(kFewCols, sums.cols - first));
    }
  });
}

}  // namespace

Status combine_rows(Stream /*stream*/, MatrixView<const float> weights, KeptView kept,
                    MatrixView<float> sums) {
  ENGRAM_CHECK(weights.cols == kept.rows);
  ENGRAM_CHECK(sums.rows == weights.rows && sums.cols == kept.cols);
  if (weights.rows == 0 || weights.cols == 0 || sums.cols == 0) return Status();
  if (kept.bytes == nullptr) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, sums.rows, sums.cols, kept.rows, 1.0f,
                weights.data, weights.stride, kept.floats, kept.cols, 1.0f, sums.data, sums.stride);
    return Status();
  }
  if (weights.rows <= kFewRows) {
    add_few(weights, kept, sums);
    return Status();
  }
  Tile* tile = tile_portable;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) tile = tile_avx2;
#endif
  const int strips = (sums.cols + kStripCols - 1) / kStripCols;
  parallel_for(strips, 1, [&](int begin, int end) {
    for (int s = begin; s < end; ++s) {
      const int first = s * kStripCols;
      add_strip(tile, weights, kept, sums, first, std::min(kStripCols, sums.cols - first));
    }
  });
  return Status();
}

}  // namespace engram::cpu
