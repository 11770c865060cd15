// The tiles of gram_update and their packing. What they compute: gram_tile_cpu.h.
//
// The unroll pragmas keep the sums in registers: g++ 12 leaves them in memory otherwise.
#include "kernels/gram_tile_cpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/simd_cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace engram::cpu {
namespace {

template <int kCols>
void pack_real(MatrixView<const float> h, int first, int cols, float factor, void* packed) {
  const std::ptrdiff_t strip = std::ptrdiff_t{kCols} * h.rows;
  for (int b = 0; b < h.rows; ++b) {  // along the rows of h, as they lie in memory
    const float* __restrict row = h.row(b) + first;
    float* __restrict out = static_cast<float*>(packed) + kCols * b;
    int col = 0;
    for (; col + kCols <= cols; col += kCols, out += strip) {
      for (int c = 0; c < kCols; ++c) out[c] = factor * row[col + c];
    }
    if (col == cols) continue;
    for (int c = 0; c < kCols; ++c) out[c] = col + c < cols ? factor * row[col + c] : 0.0f;
  }
}

void tile_portable(const void* left, const void* right, int steps, float* tile,
                   std::ptrdiff_t stride) {
  const float* rows = static_cast<const float*>(left);
  const float* cols = static_cast<const float*>(right);
  float sum[kTileRows][kTileCols] = {};
  for (int b = 0; b < steps; ++b, rows += kTileRows, cols += kTileCols) {
    for (int r = 0; r < kTileRows; ++r) {
      for (int c = 0; c < kTileCols; ++c) sum[r][c] += rows[r] * cols[c];
    }
  }
  for (int r = 0; r < kTileRows; ++r) {
    for (int c = 0; c < kTileCols; ++c) tile[stride * r + c] += sum[r][c];
  }
}

#if defined(__x86_64__)
ENGRAM_AVX2 bool all_whole(MatrixView<const float> h) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it drops the fraction
  for (int b = 0; b < h.rows; ++b) {
    const float* row = h.row(b);
    int other = 0;  // an int, and no early end: so the compiler makes SIMD of it
    for (int m = 0; m < h.cols; ++m) {
      const float nearest = (row[m] + kRounder) - kRounder;
      other |= int{nearest != row[m]} | int{!(std::fabs(row[m]) <= kLargestWhole)};
    }
    if (other != 0) return false;  // NaN too
  }
  return true;
}

// Eight columns of two frames to eight words.
ENGRAM_AVX2 inline __m256i whole_words(const float* even, const float* odd, __m256 factor,
                                       __m256 odd_factor) {
  const __m256i low = _mm256_cvttps_epi32(_mm256_mul_ps(factor, _mm256_loadu_ps(even)));
  const __m256i high = _mm256_cvttps_epi32(_mm256_mul_ps(odd_factor, _mm256_loadu_ps(odd)));
  return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

template <int kCols>
ENGRAM_AVX2 void pack_whole(MatrixView<const float> h, int first, int cols, float factor,
                            void* packed) {
  const std::ptrdiff_t strip = std::ptrdiff_t{kCols} * ((h.rows + 1) / 2);
  for (int b = 0; b < h.rows; b += 2) {
    const bool has_odd = b + 1 < h.rows;
    const float* even = h.row(b) + first;
    const float* odd = h.row(has_odd ? b + 1 : b) + first;
    const __m256 factors = _mm256_set1_ps(factor);
    const __m256 odd_factors = _mm256_set1_ps(has_odd ? factor : 0.0f);
    std::int32_t* out = static_cast<std::int32_t*>(packed) + kCols * (b / 2);
    int col = 0;
    // Eight words at a time, also of a step of six: the two beyond are the next step's, which come
    // later; the last step has none to come.
    constexpr int kWide = (kCols + 7) / 8 * 8;
    const int wide_cols = kWide == kCols || b + 2 < h.rows ? cols - kWide : -1;
    for (; col <= wide_cols; col += kCols, out += strip) {
      for (int c = 0; c < kWide; c += 8) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + c),
                            whole_words(even + col + c, odd + col + c, factors, odd_factors));
      }
    }
    for (; col < cols; col += kCols, out += strip) {
      for (int c = 0; c < kCols; ++c) {
        const bool there = col + c < cols;
        const auto low = there ? static_cast<std::int32_t>(factor * even[col + c]) : 0;
        const auto high = there && has_odd ? static_cast<std::int32_t>(factor * odd[col + c]) : 0;
        out[c] = (low & 0xffff) | high * 65536;
      }
    }
  }
}

// The tile comes from memory while the sums are taken.
inline void prefetch_tile(const float* tile, std::ptrdiff_t stride) {
  for (int r = 0; r < kTileRows; ++r) {
    __builtin_prefetch(tile + stride * r, 1);
    __builtin_prefetch(tile + stride * r + kTileCols - 1, 1);
  }
}

ENGRAM_AVX2 void tile_real_avx2(const void* left, const void* right, int steps, float* tile,
                                std::ptrdiff_t stride) {
  prefetch_tile(tile, stride);
  const float* rows = static_cast<const float*>(left);
  const float* cols = static_cast<const float*>(right);
  __m256 sum[kTileRows][2];
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_ps();
  for (int b = 0; b < steps; ++b, rows += kTileRows, cols += kTileCols) {
    const __m256 first = _mm256_load_ps(cols);
    const __m256 second = _mm256_load_ps(cols + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kTileRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(rows + r);
      sum[r][0] = _mm256_fmadd_ps(factor, first, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(factor, second, sum[r][1]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) {
    float* row = tile + stride * r;
    _mm256_storeu_ps(row, _mm256_add_ps(_mm256_loadu_ps(row), sum[r][0]));
    _mm256_storeu_ps(row + 8, _mm256_add_ps(_mm256_loadu_ps(row + 8), sum[r][1]));
  }
}

ENGRAM_AVX2 void tile_whole_avx2(const void* left, const void* right, int steps, float* tile,
                                 std::ptrdiff_t stride) {
  prefetch_tile(tile, stride);
  const std::int32_t* rows = static_cast<const std::int32_t*>(left);
  const __m256i* cols = static_cast<const __m256i*>(right);
  __m256i sum[kTileRows][2];
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
  for (int i = 0; i < steps; ++i, rows += kTileRows, cols += 2) {
    const __m256i first = _mm256_load_si256(cols);
    const __m256i second = _mm256_load_si256(cols + 1);
#pragma GCC unroll 6
    for (int r = 0; r < kTileRows; ++r) {
      const __m256i factor = _mm256_set1_epi32(rows[r]);
      sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(factor, first));
      sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(factor, second));
      asm volatile("" : "+x"(sum[r][0]), "+x"(sum[r][1]));  // row by row, or registers run out
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) {
    float* row = tile + stride * r;
    const __m256 first = _mm256_cvtepi32_ps(sum[r][0]), second = _mm256_cvtepi32_ps(sum[r][1]);
    _mm256_storeu_ps(row, _mm256_add_ps(_mm256_loadu_ps(row), first));
    _mm256_storeu_ps(row + 8, _mm256_add_ps(_mm256_loadu_ps(row + 8), second));
  }
}
#endif

#if defined(__aarch64__)
void tile_neon(const void* left, const void* right, int steps, float* tile, std::ptrdiff_t stride) {
  const float* rows = static_cast<const float*>(left);
  const float* cols = static_cast<const float*>(right);
  for (int r = 0; r < kTileRows; ++r) __builtin_prefetch(tile + stride * r, 1);
  float32x4_t sum[kTileRows][4];
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sum[r][i] = vdupq_n_f32(0.0f);
  }
  for (int b = 0; b < steps; ++b, rows += kTileRows, cols += kTileCols) {
    const float32x4x4_t columns = vld1q_f32_x4(cols);
#pragma GCC unroll 6
    for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum[r][i] = vfmaq_n_f32(sum[r][i], columns.val[i], rows[r]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      float* place = tile + stride * r + 4 * i;
      vst1q_f32(place, vaddq_f32(vld1q_f32(place), sum[r][i]));
    }
  }
}
#endif

}  // namespace

GramArithmetic choose_gram_arithmetic([[maybe_unused]] MatrixView<const float> h) {
  GramArithmetic real{1, pack_real<kTileRows>, pack_real<kTileCols>, tile_portable};
#if defined(__x86_64__)
  if (simd() == Simd::avx2) {
    if (all_whole(h)) return {2, pack_whole<kTileRows>, pack_whole<kTileCols>, tile_whole_avx2};
    real.tile = tile_real_avx2;
  }
#elif defined(__aarch64__)
  if (simd() == Simd::neon) real.tile = tile_neon;
#endif
  return real;
}

}  // namespace engram::cpu
