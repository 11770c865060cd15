// The tensor cores, lane by lane: fragments as in the PTX manual, sums as simt_machine.h says.
#include <algorithm>
#include <bit>
#include <cmath>

#include "platform/simt_warp.h"

namespace engram::simt {
namespace {

// Both matrices with the inner dimension contiguous, and the sums so far.
template <class Element, class Sum, int kInner>
struct Operands {
  Element a[16][kInner], b[8][kInner];
  Sum c[16][8];
};

// kPacked elements to a 32-bit register; `element` takes one out of a register.
template <int kPacked, class Element, class Sum, int kInner, class ElementOf>
void gather(const Lane* lanes, Operands<Element, Sum, kInner>& m, ElementOf&& element_a,
            ElementOf&& element_b) {
  for (int lane = 0; lane < 32; ++lane) {
    MmaInput in;
    std::memcpy(&in, lanes[lane].in, sizeof in);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < kPacked; ++i) {
      const int inner = kPacked * t + i;
      for (int r = 0; r < 4; ++r) {
        m.a[g + 8 * (r % 2)][inner + kInner / 2 * (r / 2)] = element_a(in.a[r], i);
      }
      for (int r = 0; r < 2; ++r) m.b[g][inner + kInner / 2 * r] = element_b(in.b[r], i);
    }
    for (int r = 0; r < 4; ++r) m.c[g + 8 * (r / 2)][2 * t + r % 2] = std::bit_cast<Sum>(in.c[r]);
  }
}

template <class Element, class Sum, int kInner, class Dot>
void scatter(Lane* lanes, const Operands<Element, Sum, kInner>& m, Dot&& dot) {
  for (int lane = 0; lane < 32; ++lane) {
    Sum d[4];
    for (int r = 0; r < 4; ++r) {
      const int row = lane / 4 + 8 * (r / 2), col = 2 * (lane % 4) + r % 2;
      d[r] = dot(m.a[row], m.b[col], m.c[row][col]);
    }
    std::memcpy(lanes[lane].out, d, sizeof d);
  }
}

// Eight products and the sum so far: aligned to the largest with one bit to spare, cut off below,
// added, and cut off again to a float.
float add_truncating(const float* a, const float* b, float sum) {
  double terms[9] = {sum};
  double largest = std::fabs(sum);
  for (int i = 0; i < 8; ++i) {
    terms[i + 1] = double{a[i]} * b[i];
    largest = std::max(largest, std::fabs(terms[i + 1]));
  }
  double total = 0;
  if (largest == 0 || !std::isfinite(largest)) {
    for (const double term : terms) total += term;
    return static_cast<float>(total);
  }
  const double step = std::ldexp(1.0, std::ilogb(largest) - 24);
  for (const double term : terms) total += std::trunc(term / step) * step;
  if (total == 0) return 0.0f;
  const double last = std::ldexp(1.0, std::ilogb(total) - 23);
  return static_cast<float>(std::trunc(total / last) * last);
}

float dot_f16(const float* a, const float* b, float sum, TensorSum how) {
  switch (how) {
    case TensorSum::sequential:
      for (int i = 0; i < 16; ++i) sum = std::fmaf(a[i], b[i], sum);
      return sum;
    case TensorSum::truncating:
      return add_truncating(a + 8, b + 8, add_truncating(a, b, sum));
    case TensorSum::fused:
      break;
  }
  double exact = sum;
  for (int i = 0; i < 16; ++i) exact += double{a[i]} * b[i];
  return static_cast<float>(exact);
}

using IntegerOperands = Operands<std::int32_t, std::int32_t, 32>;
using ByteOf = std::int32_t(std::uint32_t word, int i);
std::int32_t unsigned_byte(std::uint32_t word, int i) {
  return static_cast<std::uint8_t>(word >> 8 * i);
}
std::int32_t signed_byte(std::uint32_t word, int i) {
  return static_cast<std::int8_t>(word >> 8 * i);
}

void mma_bytes(Lane* lanes, ByteOf* byte_of_a, ByteOf* byte_of_b) {
  IntegerOperands m;
  gather<4>(lanes, m, byte_of_a, byte_of_b);
  scatter(lanes, m, [](const std::int32_t* a, const std::int32_t* b, std::int32_t c) {
    auto sum = static_cast<std::uint32_t>(c);  // wraps around, as the instruction does
    for (int i = 0; i < 32; ++i) sum += static_cast<std::uint32_t>(a[i] * b[i]);
    return static_cast<std::int32_t>(sum);
  });
}

}  // namespace

void combine_mma_f16(Lane* lanes, unsigned, std::string&) {
  const auto half = [](std::uint32_t word, int i) {
    return from_half(static_cast<std::uint16_t>(word >> 16 * i));
  };
  Operands<float, float, 16> m;
  gather<2>(lanes, m, half, half);
  const TensorSum how = options().tensor_sum;
  scatter(lanes, m,
          [how](const float* a, const float* b, float c) { return dot_f16(a, b, c, how); });
}
void combine_mma_u8s8(Lane* lanes, unsigned, std::string&) {
  mma_bytes(lanes, unsigned_byte, signed_byte);
}
void combine_mma_u8u8(Lane* lanes, unsigned, std::string&) {
  mma_bytes(lanes, unsigned_byte, unsigned_byte);
}

}  // namespace engram::simt
