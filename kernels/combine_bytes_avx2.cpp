// A tile of samples becomes floats once, in panels of 16 columns (8 KiB: the first-level cache), and
// six sums at a time pass over a panel: 12 of the 16 registers hold sums, and nothing is packed.
#include "kernels/combine_bytes_cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>

#include "kernels/simd_cpu.h"

namespace engram::cpu {
namespace {

constexpr int kLanes = 8;
constexpr int kPanel = 2 * kLanes;  // columns
constexpr int kSums = 6;            // at a time

using Panel = float[kCombineRows * kPanel];

// Columns behind the end are zeros.
ENGRAM_AVX2 void widen(KeptView kept, int top, int count, int first, int width, Panel* panels) {
  for (int n = 0; n < count; ++n) {
    const std::uint8_t* bytes = kept.byte_row(top + n) + first;
    alignas(64) std::uint8_t line[kCombineCols] = {};
    if (width < kCombineCols) {
      std::copy_n(bytes, width, line);
      bytes = line;
    }
    for (int c = 0; c < kCombineCols; c += kLanes) {
      const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + c));
      _mm256_store_ps(panels[c / kPanel] + kPanel * n + c % kPanel,
                      _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight)));
    }
  }
}

// sums[r][c] += weights[r] . panel of some rows r; weights begin at the tile's first sample.
template <int kRows>
ENGRAM_AVX2 void multiply(const float* weights, std::ptrdiff_t stride, const float* panel,
                          int count, int width, float* sums, std::ptrdiff_t sums_stride) {
  __m256 low[kRows], high[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = _mm256_setzero_ps();
  for (int n = 0; n < count; ++n) {
    const __m256 left = _mm256_load_ps(panel + kPanel * n);
    const __m256 right = _mm256_load_ps(panel + kPanel * n + kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256 weight = _mm256_broadcast_ss(weights + stride * r + n);
      low[r] = _mm256_fmadd_ps(weight, left, low[r]);
      high[r] = _mm256_fmadd_ps(weight, right, high[r]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    float* row = sums + sums_stride * r;
    if (width >= kPanel) {
      _mm256_storeu_ps(row, _mm256_add_ps(_mm256_loadu_ps(row), low[r]));
      _mm256_storeu_ps(row + kLanes, _mm256_add_ps(_mm256_loadu_ps(row + kLanes), high[r]));
    } else {
      alignas(32) float gained[kPanel];
      _mm256_store_ps(gained, low[r]);
      _mm256_store_ps(gained + kLanes, high[r]);
      for (int c = 0; c < width; ++c) row[c] += gained[c];
    }
  }
}

using Multiply = void(const float* weights, std::ptrdiff_t stride, const float* panel, int count,
                      int width, float* sums, std::ptrdiff_t sums_stride);
constexpr Multiply* kMultiply[kSums + 1] = {nullptr,     multiply<1>, multiply<2>, multiply<3>,
                                            multiply<4>, multiply<5>, multiply<6>};

}  // namespace

void combine_bytes_avx2(MatrixView<const float> weights, KeptView kept, int first, int width,
                        MatrixView<float> sums) {
  alignas(64) Panel panels[kCombineCols / kPanel];
  for (int top = 0; top < kept.rows; top += kCombineRows) {
    const int count = std::min(kCombineRows, kept.rows - top);
    widen(kept, top, count, first, width, panels);
    for (int c = 0; c < width; c += kPanel) {
      for (int r = 0; r < sums.rows; r += kSums) {
        const int rows = std::min(kSums, sums.rows - r);
        kMultiply[rows](weights.row(r) + top, weights.stride, panels[c / kPanel], count, width - c,
                        sums.row(r) + first + c, sums.stride);
      }
    }
  }
}

}  // namespace engram::cpu
#endif
