// kernel_rows on the CPU. Math, shapes and numerics: kernel_rows.h.
//
// Whole numbers in tiles of 2 rows of `left` by 4 rows of `right`: six loads feed eight sums, which
// stay in registers. A piece of work is some rows of `right`, which stay in the second-level cache
// while the rows of `left` pass by.
#include "kernels/kernel_rows.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"
#include "kernels/simd_cpu.h"
#include "platform/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace engram::cpu {
namespace {

constexpr int kTileLeft = 2;
constexpr int kTileRight = 4;
constexpr int kGrain = 4 * kTileRight;  // rows of `right` in a piece of work
constexpr int kOneGrain = 4 * kGrain;   // the same for one row of `left`: fewer beginnings

// sums[i][j] = left[i] . right[j]
using Tile = void(const std::uint8_t* const (&left)[kTileLeft],
                  const std::uint8_t* const (&right)[kTileRight], int count,
                  std::int32_t (&sums)[kTileLeft][kTileRight]);

void tile_portable(const std::uint8_t* const (&left)[kTileLeft],
                   const std::uint8_t* const (&right)[kTileRight], int count,
                   std::int32_t (&sums)[kTileLeft][kTileRight]) {
  for (int i = 0; i < kTileLeft; ++i) {
    for (int j = 0; j < kTileRight; ++j) {
      const std::uint8_t* __restrict a = left[i];
      const std::uint8_t* __restrict b = right[j];
      std::int32_t sum = 0;
      for (int m = 0; m < count; ++m) sum += std::int32_t{a[m]} * std::int32_t{b[m]};
      sums[i][j] = sum;
    }
  }
}

#if defined(__x86_64__)
ENGRAM_AVX2 inline __m256i widened(const std::uint8_t* bytes) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

ENGRAM_AVX2 inline std::int32_t total(__m256i lanes) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

// kLeft 1 is for one row of `left`, where the other one would be it again. There reading is all the work:
// the next rows of `right`, which lie behind these, are fetched from memory meanwhile.
template <int kLeft>
ENGRAM_AVX2 void tile_avx2(const std::uint8_t* const (&left)[kTileLeft],
                           const std::uint8_t* const (&right)[kTileRight], int count,
                           std::int32_t (&sums)[kTileLeft][kTileRight]) {
  constexpr int kStep = 16, kLine = 64;
  __m256i lanes[kLeft][kTileRight];
#pragma GCC unroll 4
  for (int i = 0; i < kLeft; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kTileRight; ++j) lanes[i][j] = _mm256_setzero_si256();
  }
  int m = 0;
  for (; m + kStep <= count; m += kStep) {
    if (kLeft == 1 && m % kLine == 0) {
#pragma GCC unroll 4
      for (int j = 0; j < kTileRight; ++j) {
        __builtin_prefetch(right[j] + std::ptrdiff_t{kTileRight} * count + m);
      }
    }
    __m256i a[kLeft];
#pragma GCC unroll 4
    for (int i = 0; i < kLeft; ++i) a[i] = widened(left[i] + m);
#pragma GCC unroll 4
    for (int j = 0; j < kTileRight; ++j) {
      const __m256i b = widened(right[j] + m);
#pragma GCC unroll 4
      for (int i = 0; i < kLeft; ++i) {
        lanes[i][j] = _mm256_add_epi32(lanes[i][j], _mm256_madd_epi16(a[i], b));
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kLeft; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kTileRight; ++j) {
      std::int32_t sum = total(lanes[i][j]);
      for (int t = m; t < count; ++t) sum += std::int32_t{left[i][t]} * std::int32_t{right[j][t]};
      sums[i][j] = sum;
    }
  }
}
#endif

// Columns [begin, end) of k.
void columns(Tile* tile, KeptView left, KeptView right, MatrixView<float> k, int begin, int end) {
  for (int n = begin; n < end; n += kTileRight) {
    // Rows beyond the end repeat the last one: computed, and not stored.
    const std::uint8_t* b[kTileRight];
    for (int j = 0; j < kTileRight; ++j) b[j] = right.byte_row(std::min(n + j, end - 1));
    for (int r = 0; r < left.rows; r += kTileLeft) {
      const std::uint8_t* const a[kTileLeft] = {left.byte_row(r),
                                                left.byte_row(std::min(r + 1, left.rows - 1))};
      std::int32_t sums[kTileLeft][kTileRight];
      tile(a, b, left.cols, sums);
      for (int i = 0; i < std::min(kTileLeft, left.rows - r); ++i) {
        for (int j = 0; j < std::min(kTileRight, end - n); ++j) k(r + i, n + j) = float(sums[i][j]);
      }
    }
  }
}

}  // namespace

Status kernel_rows(Stream /*stream*/, KeptView left, KeptView right, MatrixView<float> k) {
  ENGRAM_CHECK(left.cols == right.cols);
  ENGRAM_CHECK((left.bytes != nullptr) == (right.bytes != nullptr));
  ENGRAM_CHECK(k.rows == left.rows && k.cols == right.rows);
  if (k.rows == 0 || k.cols == 0) return Status();
  if (left.bytes == nullptr) {
    multiply(1.0f, plain(left.float_rows()), turned(right.float_rows()), 0.0f, k);
    return Status();
  }
  Tile* tile = tile_portable;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) tile = left.rows == 1 ? tile_avx2<1> : tile_avx2<kTileLeft>;
#endif
  parallel_for(right.rows, left.rows == 1 ? kOneGrain : kGrain,
               [&](int begin, int end) { columns(tile, left, right, k, begin, end); });
  return Status();
}

}  // namespace engram::cpu
