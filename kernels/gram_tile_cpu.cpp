// The tile of gram_update in three ways. What it computes: gram_tile_cpu.h.
#include "kernels/gram_tile_cpu.h"

#include "kernels/simd_cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace engram::cpu {

void gram_tile_portable(const float* left, const float* right, int batch, float* tile,
                        std::ptrdiff_t stride) {
  float sum[kTileRows][kTileCols] = {};
  for (int b = 0; b < batch; ++b, left += kTileRows, right += kTileCols) {
    for (int r = 0; r < kTileRows; ++r) {
      for (int c = 0; c < kTileCols; ++c) sum[r][c] += left[r] * right[c];
    }
  }
  for (int r = 0; r < kTileRows; ++r) {
    for (int c = 0; c < kTileCols; ++c) tile[stride * r + c] += sum[r][c];
  }
}

#if defined(__x86_64__)
ENGRAM_AVX2 void gram_tile_avx2(const float* left, const float* right, int batch, float* tile,
                                std::ptrdiff_t stride) {
  // The tile comes from memory while the sums are taken.
  for (int r = 0; r < kTileRows; ++r) {
    __builtin_prefetch(tile + stride * r, 1);
    __builtin_prefetch(tile + stride * r + kTileCols - 1, 1);
  }
  __m256 sum[kTileRows][2];
  for (auto& row : sum) row[0] = row[1] = _mm256_setzero_ps();
  for (int b = 0; b < batch; ++b, left += kTileRows, right += kTileCols) {
    const __m256 first = _mm256_load_ps(right);
    const __m256 second = _mm256_load_ps(right + 8);
    for (int r = 0; r < kTileRows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(left + r);
      sum[r][0] = _mm256_fmadd_ps(factor, first, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(factor, second, sum[r][1]);
    }
  }
  for (int r = 0; r < kTileRows; ++r) {
    float* row = tile + stride * r;
    _mm256_storeu_ps(row, _mm256_add_ps(_mm256_loadu_ps(row), sum[r][0]));
    _mm256_storeu_ps(row + 8, _mm256_add_ps(_mm256_loadu_ps(row + 8), sum[r][1]));
  }
}
#endif

#if defined(__aarch64__)
void gram_tile_neon(const float* left, const float* right, int batch, float* tile,
                    std::ptrdiff_t stride) {
  for (int r = 0; r < kTileRows; ++r) __builtin_prefetch(tile + stride * r, 1);
  float32x4_t sum[kTileRows][4];
  for (auto& row : sum) row[0] = row[1] = row[2] = row[3] = vdupq_n_f32(0.0f);
  for (int b = 0; b < batch; ++b, left += kTileRows, right += kTileCols) {
    float32x4_t columns[4];
    for (int i = 0; i < 4; ++i) columns[i] = vld1q_f32(right + 4 * i);
    for (int r = 0; r < kTileRows; ++r) {
      for (int i = 0; i < 4; ++i) sum[r][i] = vfmaq_n_f32(sum[r][i], columns[i], left[r]);
    }
  }
  for (int r = 0; r < kTileRows; ++r) {
    for (int i = 0; i < 4; ++i) {
      float* place = tile + stride * r + 4 * i;
      vst1q_f32(place, vaddq_f32(vld1q_f32(place), sum[r][i]));
    }
  }
}
#endif

GramTile* best_gram_tile() {
#if defined(__x86_64__)
  if (simd() == Simd::avx2) return gram_tile_avx2;
#elif defined(__aarch64__)
  if (simd() == Simd::neon) return gram_tile_neon;
#endif
  return gram_tile_portable;
}

}  // namespace engram::cpu
