// sign_project's look-ups with AVX2: 64 units at a time, in two registers. The idea:
// sign_lookup_cpu.h.
#include "kernels/sign_lookup_cpu.h"
#include "kernels/simd_cpu.h"

#if defined(__x86_64__)
#include <cstring>

#include <immintrin.h>

namespace engram::cpu {
namespace {

constexpr int kStepUnits = 32;  // bytes in a register

// 32 words, one per unit, to their four bytes: byte u of bytes[i] is byte i of one unit's word.
// Units are in the order 0-3 8-11 16-19 24-27 | 4-7 12-15 20-23 28-31, which write_sums() puts
// right for free.
ENGRAM_AVX2 inline void split_words(const std::uint32_t* words, __m256i bytes[4]) {
  const __m256i by_place = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m256i row[4];
  for (int i = 0; i < 4; ++i) {
    const auto* eight = reinterpret_cast<const __m256i*>(words + 8 * i);
    row[i] = _mm256_shuffle_epi8(_mm256_loadu_si256(eight), by_place);
  }
  // Now a 4 x 4 transpose of 32-bit pieces: from "all bytes of some units" to "one byte of all".
  const __m256i low01 = _mm256_unpacklo_epi32(row[0], row[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(row[2], row[3]);
  const __m256i high01 = _mm256_unpackhi_epi32(row[0], row[1]);
  const __m256i high23 = _mm256_unpackhi_epi32(row[2], row[3]);
  bytes[0] = _mm256_unpacklo_epi64(low01, low23);
  bytes[1] = _mm256_unpackhi_epi64(low01, low23);
  bytes[2] = _mm256_unpacklo_epi64(high01, high23);
  bytes[3] = _mm256_unpackhi_epi64(high01, high23);
}

ENGRAM_AVX2 inline __m256i load_table(const std::uint8_t table[16]) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}

// sums: low digits of even bytes, of odd bytes, then high digits likewise; 16 each.
ENGRAM_AVX2 inline void add_bytes(__m256i low, __m256i high, __m256i* sums) {
  const __m256i even = _mm256_set1_epi16(255);
  const __m256i wide[4] = {_mm256_and_si256(low, even), _mm256_srli_epi16(low, 8),
                           _mm256_and_si256(high, even), _mm256_srli_epi16(high, 8)};
  for (int i = 0; i < 4; ++i) {
    _mm256_store_si256(sums + i, _mm256_add_epi16(_mm256_load_si256(sums + i), wide[i]));
  }
}

// All look-ups of one word of W for 64 units.
ENGRAM_AVX2 inline void look_up_and_add(const WordTable& table, const __m256i bytes[2][4],
                                        __m256i* first_sums, __m256i* second_sums) {
  const __m256i mask = _mm256_set1_epi8(15);
  __m256i low0 = _mm256_setzero_si256(), high0 = low0, low1 = low0, high1 = low0;
#pragma GCC unroll 8
  for (int g = 0; g < kWordLookups; ++g) {
    const int shift = g % 2 == 0 ? 0 : 4;
    const __m256i nibbles0 = _mm256_and_si256(_mm256_srli_epi16(bytes[0][g / 2], shift), mask);
    const __m256i nibbles1 = _mm256_and_si256(_mm256_srli_epi16(bytes[1][g / 2], shift), mask);
    const __m256i low = load_table(table.digits[g].low);
    const __m256i high = load_table(table.digits[g].high);
    low0 = _mm256_add_epi8(low0, _mm256_shuffle_epi8(low, nibbles0));
    high0 = _mm256_add_epi8(high0, _mm256_shuffle_epi8(high, nibbles0));
    low1 = _mm256_add_epi8(low1, _mm256_shuffle_epi8(low, nibbles1));
    high1 = _mm256_add_epi8(high1, _mm256_shuffle_epi8(high, nibbles1));
    // One table after another, or the compiler loads them all at once and runs out of registers.
    asm volatile("" : "+x"(low0), "+x"(high0), "+x"(low1), "+x"(high1));
  }
  add_bytes(low0, high0, first_sums);
  add_bytes(low1, high1, second_sums);
}

// The next row of words is far away: no hardware foresees the jump.
inline void prefetch_units(const std::uint32_t* words) {
  constexpr int kLine = 64 / sizeof(std::uint32_t);
  for (int u = 0; u < kLookupUnits; u += kLine) __builtin_prefetch(words + u);
}

ENGRAM_AVX2 inline void write_sums(const __m256i* sums, int bias, bool add, std::int32_t* p) {
  const __m256i low[2] = {_mm256_unpacklo_epi16(sums[0], sums[1]),
                          _mm256_unpackhi_epi16(sums[0], sums[1])};
  const __m256i high[2] = {_mm256_unpacklo_epi16(sums[2], sums[3]),
                           _mm256_unpackhi_epi16(sums[2], sums[3])};
  const __m256i worth = _mm256_set1_epi32(kHighDigit << 16 | 1);
  for (int i = 0; i < 4; ++i) {
    const __m256i digits = i % 2 == 0 ? _mm256_unpacklo_epi16(low[i / 2], high[i / 2])
                                      : _mm256_unpackhi_epi16(low[i / 2], high[i / 2]);
    auto* place = reinterpret_cast<__m256i*>(p + 8 * i);
    __m256i sum = _mm256_sub_epi32(_mm256_madd_epi16(digits, worth), _mm256_set1_epi32(bias));
    if (add) sum = _mm256_add_epi32(sum, _mm256_loadu_si256(place));
    _mm256_storeu_si256(place, sum);
  }
}

}  // namespace

ENGRAM_AVX2 void lookup_avx2(const LookupBlock& block) {
  constexpr int kSteps = kBlockUnits / kStepUnits;
  static_assert(kLookupUnits == 2 * kStepUnits);
  __m256i sums[kMaxFrames][kSteps][4];
  const int steps = block.units / kStepUnits;
  for (int b = 0; b < block.frames; ++b) {
    std::memset(sums[b], 0, static_cast<std::size_t>(steps) * sizeof sums[b][0]);
  }
  // Words outside, units inside: W is read in long runs, as it lies in memory. Two steps at a time,
  // because loading the tables is what limits the speed.
  for (int k = 0; k < block.word_rows; ++k) {
    const std::uint32_t* words = block.words + block.words_stride * k;
    for (int step = 0; step < steps; step += 2) {
      __m256i bytes[2][4];
      split_words(words + kStepUnits * step, bytes[0]);
      split_words(words + kStepUnits * (step + 1), bytes[1]);
      if (k + 1 < block.word_rows) {
        prefetch_units(words + block.words_stride + kStepUnits * step);
      }
      for (int b = 0; b < block.frames; ++b) {
        __m256i* sum = sums[b][step];
        look_up_and_add(block.tables[b * block.word_rows + k], bytes, sum, sum + 4);
      }
    }
  }
  const int bias = kBias * kWordLookups * block.word_rows;
  for (int b = 0; b < block.frames; ++b) {
    for (int step = 0; step < steps; ++step) {
      std::int32_t* p = block.p + block.p_stride * b + kStepUnits * step;
      write_sums(sums[b][step], bias, block.add, p);
    }
  }
}

}  // namespace engram::cpu
#endif
