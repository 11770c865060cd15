// leverage on the CPU: a few probes at a time made floats, for a matrix product; for one frame, where
// reading the probes is all the work, on the way. Math and shapes: leverage.h.
#include "kernels/leverage.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"
#include "kernels/simd_cpu.h"
#include "platform/threads.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace engram::cpu {
namespace {

constexpr int kProbes = 4;       // made floats at once
constexpr int kUnits = 1 << 14;  // of each, 256 KiB in all

#if defined(__x86_64__)
ENGRAM_AVX2 float product_avx2(const float* h, const std::int16_t* probe, int units) {
  constexpr int kLanes = 8, kChains = 4;
  __m256 sums[kChains];
#pragma GCC unroll 4
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_setzero_ps();
  int m = 0;
  for (; m + kLanes * kChains <= units; m += kLanes * kChains) {
#pragma GCC unroll 4
    for (int i = 0; i < kChains; ++i) {
      const auto* eight = reinterpret_cast<const __m128i*>(probe + m + kLanes * i);
      const __m256 values = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128(eight)));
      sums[i] = _mm256_fmadd_ps(values, _mm256_loadu_ps(h + m + kLanes * i), sums[i]);
    }
  }
  alignas(32) float lanes[kLanes];
  _mm256_store_ps(lanes,
                  _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3])));
  float total = 0;
  for (const float lane : lanes) total += lane;
  for (; m < units; ++m) total += h[m] * float(probe[m]);
  return total;
}
#endif

void multiply_probes(MatrixView<const float> h, MatrixView<const std::int16_t> probes,
                     MatrixView<float> products) {
#if defined(__x86_64__)
  if (h.rows == 1 && simd() == Simd::avx2) {
    parallel_for(probes.rows, kProbes, [&](int begin, int end) {
      for (int r = begin; r < end; ++r) {
        products(0, r) = product_avx2(h.data, probes.row(r), h.cols);
      }
    });
    return;
  }
#endif
  float tile[kProbes * kUnits];
  for (int r = 0; r < probes.rows; r += kProbes) {
    const int count = std::min(kProbes, probes.rows - r);
    const MatrixView<float> to{products.data + r, h.rows, count, products.stride};
    for (int first = 0; first == 0 || first < h.cols; first += kUnits) {
      const int units = std::min(kUnits, h.cols - first);
      for (int i = 0; i < count; ++i) {
        const std::int16_t* const from = probes.row(r + i) + first;
        for (int m = 0; m < units; ++m) tile[i * units + m] = float(from[m]);
      }
      multiply(1.0f, plain({h.data + first, h.rows, units, h.stride}),
               turned({tile, count, units, units}), first == 0 ? 0.0f : 1.0f, to);
    }
  }
}

}  // namespace

Status leverage(Stream /*stream*/, MatrixView<const float> h, MatrixView<const std::int16_t> probes,
                MatrixView<const float> scales, MatrixView<float> products,
                MatrixView<float> leverages) {
  ENGRAM_CHECK(h.cols == probes.cols && scales.rows == 1 && scales.cols == probes.rows);
  ENGRAM_CHECK(products.rows == h.rows && products.cols == probes.rows);
  ENGRAM_CHECK(leverages.rows == 1 && leverages.cols == h.rows);
  multiply_probes(h, probes, products);
  for (int b = 0; b < h.rows; ++b) {
    float sum = 0;
    for (int r = 0; r < probes.rows; ++r) {
      const float product = products(b, r) *= scales(0, r);
      sum += product * product;
    }
    leverages(0, b) = probes.rows == 0 ? 0.0f : sum / float(probes.rows);
  }
  return Status();
}

}  // namespace engram::cpu
