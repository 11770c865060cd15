// combine_rows on the CPU. Math, shapes and numerics: combine_rows.h.
//
// The columns are cut into strips, one piece of work each. In a strip, 128 samples at a time become
// floats (128 KiB: the second-level cache), which OpenBLAS multiplies in this thread alone; on x86_64
// combine_bytes_avx2.cpp does it without packing them once more. The strips do not depend on the number
// of threads, and so neither do the bits of the result.
#include "kernels/combine_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/combine_bytes_cpu.h"
#include "kernels/simd_cpu.h"
#include "platform/blas.h"
#include "platform/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace engram::cpu {
namespace {

constexpr int kStripCols = 256;
constexpr int kStripRows = 128;

// Rows [top, top + count) and columns [first, first + width) as floats, kStripCols apart.
void widen(KeptView kept, int top, int count, int first, int width, float* strip) {
  for (int n = 0; n < count; ++n) {
    const std::uint8_t* __restrict bytes = kept.byte_row(top + n) + first;
    float* __restrict out = strip + kStripCols * n;
    for (int c = 0; c < width; ++c) out[c] = float(bytes[c]);
  }
}

// Columns [first, first + width) of `sums`, width <= kStripCols.
void add_strip(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums, int first,
               int width) {
  alignas(64) float strip[kStripRows * kStripCols];
  for (int top = 0; top < kept.rows; top += kStripRows) {
    const int count = std::min(kStripRows, kept.rows - top);
    const float* rows = strip;
    int stride = kStripCols;
    if (kept.bytes != nullptr) {
      widen(kept, top, count, first, width, strip);
    } else {
      rows = kept.float_row(top) + first;
      stride = kept.cols;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, sums.rows, width, count, 1.0f,
                weights.data + top, weights.stride, rows, stride, 1.0f, sums.data + first,
                sums.stride);
  }
}

// Few sums, where reading the samples is all the work: long runs of a row, eight rows at a time, and
// from the last rows to the first: who combines has just compared (kernel_rows) from the first to the
// last, and the cache still has those.
constexpr int kFewRows = 4;
constexpr int kGroup = 8;
constexpr int kFewCols = 4096;  // at most; 16 KiB of sums

// gained[m] += sum over the group's rows i of weight[i] * bytes[i][m].
using AddGroup = void(const float* weight, const std::uint8_t* bytes, std::ptrdiff_t stride,
                      int width, float* gained);

inline void add_group_portable(const float* weight, const std::uint8_t* bytes,
                               std::ptrdiff_t stride, int width, float* gained) {
  for (int i = 0; i < kGroup; ++i) {
    const std::uint8_t* __restrict row = bytes + stride * i;
    for (int m = 0; m < width; ++m) gained[m] += weight[i] * float(row[m]);
  }
}

#if defined(__x86_64__)
ENGRAM_AVX2 inline __m256 widened(const std::uint8_t* bytes) {
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
}

// The group before this one, which is the next to come, is fetched from memory meanwhile.
ENGRAM_AVX2 void add_group_avx2(const float* weight, const std::uint8_t* bytes,
                                std::ptrdiff_t stride, int width, float* gained) {
  constexpr int kLanes = 8, kLine = 64;
  const std::uint8_t* before = bytes - kGroup * stride;
  __m256 factor[kGroup];
#pragma GCC unroll 8
  for (int i = 0; i < kGroup; ++i) factor[i] = _mm256_set1_ps(weight[i]);
  int m = 0;
  for (; m + kLanes <= width; m += kLanes) {
    if (m % kLine == 0) {
#pragma GCC unroll 8
      for (int i = 0; i < kGroup; ++i) __builtin_prefetch(before + stride * i + m);
    }
    __m256 even = _mm256_loadu_ps(gained + m), odd = _mm256_setzero_ps();
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; i += 2) {
      even = _mm256_fmadd_ps(factor[i], widened(bytes + stride * i + m), even);
      odd = _mm256_fmadd_ps(factor[i + 1], widened(bytes + stride * (i + 1) + m), odd);
    }
    _mm256_storeu_ps(gained + m, _mm256_add_ps(even, odd));
  }
  // In the same order: where the columns are cut must not show.
  for (; m < width; ++m) {
    float even = gained[m], odd = 0.0f;
    for (int i = 0; i < kGroup; i += 2) {
      even = std::fma(weight[i], float(bytes[stride * i + m]), even);
      odd = std::fma(weight[i + 1], float(bytes[stride * (i + 1) + m]), odd);
    }
    gained[m] = even + odd;
  }
}
#endif

// Columns [first, first + width) of `sums`, width <= kFewCols.
void add_few_columns(AddGroup* add, MatrixView<const float> weights, KeptView kept,
                     MatrixView<float> sums, int first, int width) {
  alignas(64) float gained[kFewCols];
  const int groups_end = kept.rows / kGroup * kGroup;
  for (int r = 0; r < weights.rows; ++r) {
    const float* weight = weights.row(r);
    float* __restrict out = sums.row(r) + first;
    for (int n = groups_end; n < kept.rows; ++n) {
      const std::uint8_t* __restrict bytes = kept.byte_row(n) + first;
      for (int m = 0; m < width; ++m) out[m] += weight[n] * float(bytes[m]);
    }
    std::fill_n(gained, width, 0.0f);
    for (int n = groups_end - kGroup; n >= 0; n -= kGroup) {
      add(weight + n, kept.byte_row(n) + first, kept.cols, width, gained);
      if (n % kStripRows != 0) continue;  // sums of some rows first: smaller errors
      for (int m = 0; m < width; ++m) out[m] += gained[m];
      std::fill_n(gained, width, 0.0f);
    }
  }
}

void add_few(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums) {
  AddGroup* add = add_group_portable;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) add = add_group_avx2;
#endif
  // Every column is summed alike wherever it is cut: the pieces may depend on the threads.
  constexpr int kLine = 64;
  const int even = sums.cols / (2 * thread_count()) / kLine * kLine + kLine;
  const int piece = std::clamp(even, kFewCols / 4, kFewCols);
  parallel_for(sums.cols, piece, [&](int begin, int end) {
    for (int first = begin; first < end; first += piece) {
      add_few_columns(add, weights, kept, sums, first, std::min(piece, end - first));
    }
  });
}

// Few samples, where reading and writing the sums is all the work.
constexpr int kFewSamples = 4;

void add_few_samples(MatrixView<const float> weights, KeptView kept, MatrixView<float> sums) {
  constexpr int kGrain = 4;
  parallel_for(sums.rows, kGrain, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      for (int n = 0; n < kept.rows; ++n) {
        cblas_saxpy(sums.cols, weights(r, n), kept.float_row(n), 1, sums.row(r), 1);
      }
    }
  });
}

}  // namespace

Status combine_rows(Stream /*stream*/, MatrixView<const float> weights, KeptView kept,
                    MatrixView<float> sums) {
  ENGRAM_CHECK(weights.cols == kept.rows);
  ENGRAM_CHECK(sums.rows == weights.rows && sums.cols == kept.cols);
  if (weights.rows == 0 || weights.cols == 0 || sums.cols == 0) return Status();
  if (kept.bytes != nullptr && weights.rows <= kFewRows) {
    add_few(weights, kept, sums);
    return Status();
  }
  if (kept.bytes == nullptr && kept.rows <= kFewSamples) {
    add_few_samples(weights, kept, sums);
    return Status();
  }
#if defined(__x86_64__)
  if (kept.bytes != nullptr && simd() == Simd::avx2) {
    parallel_for(sums.cols, kCombineCols, [&](int begin, int end) {
      for (int first = begin; first < end; first += kCombineCols) {
        combine_bytes_avx2(weights, kept, first, std::min(kCombineCols, end - first), sums);
      }
    });
    return Status();
  }
#endif
  const int strips = (sums.cols + kStripCols - 1) / kStripCols;
  parallel_for(strips, 1, [&](int begin, int end) {
    for (int s = begin; s < end; ++s) {
      const int first = s * kStripCols;
      add_strip(weights, kept, sums, first, std::min(kStripCols, sums.cols - first));
    }
  });
  return Status();
}

}  // namespace engram::cpu
