// sign_project's look-ups with NEON: 16 units at a time. The idea: sign_lookup_cpu.h.
#include "kernels/sign_lookup_cpu.h"

#if defined(__aarch64__)
#include <cstring>

#include <arm_neon.h>

namespace engram::cpu {
namespace {

constexpr int kStepUnits = 16;

struct Sums {  // of 16 units, as 16-bit numbers
  std::uint16_t low[kStepUnits];
  std::uint16_t high[kStepUnits];
};

// sums += digits
inline void add_bytes(uint8x16_t digits, std::uint16_t* sums) {
  vst1q_u16(sums, vaddw_u8(vld1q_u16(sums), vget_low_u8(digits)));
  vst1q_u16(sums + 8, vaddw_high_u8(vld1q_u16(sums + 8), digits));
}

inline void write_sums(const Sums& sums, int bias, bool add, std::int32_t* p) {
  for (int i = 0; i < kStepUnits; i += 4) {
    const uint32x4_t low = vmovl_u16(vld1_u16(sums.low + i));
    const uint32x4_t sum = vmlal_n_u16(low, vld1_u16(sums.high + i), kHighDigit);
    int32x4_t result = vsubq_s32(vreinterpretq_s32_u32(sum), vdupq_n_s32(bias));
    if (add) result = vaddq_s32(result, vld1q_s32(p + i));
    vst1q_s32(p + i, result);
  }
}

}  // namespace

void lookup_neon(const LookupBlock& block) {
  static_assert(kLookupUnits % kStepUnits == 0);
  constexpr int kSteps = kBlockUnits / kStepUnits;
  Sums sums[kMaxFrames][kSteps];
  const int steps = block.units / kStepUnits;
  for (int b = 0; b < block.frames; ++b) {
    std::memset(sums[b], 0, static_cast<std::size_t>(steps) * sizeof sums[b][0]);
  }
  for (int k = 0; k < block.word_rows; ++k) {
    const std::uint32_t* words = block.words + block.words_stride * k;
    for (int step = 0; step < steps; ++step) {
      // One load takes the words of 16 units apart into their first, second, ... bytes.
      const uint8x16x4_t bytes =
          vld4q_u8(reinterpret_cast<const std::uint8_t*>(words + kStepUnits * step));
      uint8x16_t nibbles[kWordLookups];
      for (int i = 0; i < 4; ++i) {
        nibbles[2 * i] = vandq_u8(bytes.val[i], vdupq_n_u8(15));
        nibbles[2 * i + 1] = vshrq_n_u8(bytes.val[i], 4);
      }
      for (int b = 0; b < block.frames; ++b) {
        const WordTable& table = block.tables[b * block.word_rows + k];
        uint8x16_t low = vdupq_n_u8(0), high = vdupq_n_u8(0);
        for (int g = 0; g < kWordLookups; ++g) {
          low = vaddq_u8(low, vqtbl1q_u8(vld1q_u8(table.digits[g].low), nibbles[g]));
          high = vaddq_u8(high, vqtbl1q_u8(vld1q_u8(table.digits[g].high), nibbles[g]));
        }
        add_bytes(low, sums[b][step].low);
        add_bytes(high, sums[b][step].high);
      }
    }
  }
  const int bias = kBias * kWordLookups * block.word_rows;
  for (int b = 0; b < block.frames; ++b) {
    for (int step = 0; step < steps; ++step) {
      write_sums(sums[b][step], bias, block.add, block.p + block.p_stride * b + kStepUnits * step);
    }
  }
}

}  // namespace engram::cpu
#endif
