// exp and the normal distribution in a form that compilers make SIMD of, in plain code and, inlined into
// a function marked ENGRAM_AVX2, in wider registers; and sums of rows in lanes.
//
// Errors are below 1e-6 of the result; a result below 1.2e-38 is 0. What is not a number stays so.
// Files that include this are compiled with -fno-trapping-math: gcc makes no SIMD of comparisons else.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#define ENGRAM_INLINE inline __attribute__((always_inline))
#define ENGRAM_INLINED __attribute__((always_inline))  // of a lambda, behind its parameters

namespace engram::cpu {

// e^(x + more): Cody and Waite's reduction to |r| <= ln(2) / 2, then Cephes' polynomial. `more` is a
// small part of the argument that would be lost in a sum with x. For x up to 88.
ENGRAM_INLINE float exp_of(float x, float more = 0.0f) {
  constexpr float kLeast = -87.3f;
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: a sum with it is rounded to a whole number
  const float cut = x < kLeast ? kLeast : x;
  const float shifted = cut * 1.44269504f + kShift;
  const float n = shifted - kShift;
  const float r = ((cut - n * 0.693359375f) + n * 2.12194440e-4f) + more;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // n stands in the lowest bits of `shifted`: moved to the exponent, it is 2^n.
  const auto power =
      std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + (127u << 23));
  return x < kLeast ? 0.0f : p * power;
}

struct Sigmoid {
  float value;  // 1 / (1 + e^-x)
  float slope;  // its derivative, value (1 - value)
};

// From the side where e^ is small.
ENGRAM_INLINE Sigmoid sigmoid_of(float x) {
  const float e = exp_of(x < 0.0f ? x : -x), share = 1.0f / (1.0f + e);
  return {(x < 0.0f ? e : 1.0f) * share, e * share * share};
}

struct Normal {
  float below;    // Phi(x), the share of the normal distribution below x
  float density;  // its derivative
};

// Phi(-a) = e^(-a^2 / 2) t g(t) with t = 1 / (1 + 0.35 a); g is within 4e-8 of it for a in [0, 14], beyond
// which Phi(-a) is no float. The square is taken in two parts: rounded, it would cost the tail its digits.
ENGRAM_INLINE Normal normal_of(float x) {
  float a = x < 0.0f ? -x : x;
  a = a > 14.0f ? 14.0f : a;
  const auto head = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0xfffff000u);
  const float e = exp_of(-0.5f * head * head, -0.5f * (a - head) * (a + head));
  const float t = 1.0f / (1.0f + 0.35f * a);
  float g = -0.029679522f;
  g = g * t + 0.1465458303f;
  g = g * t - 0.2609612283f;
  g = g * t + 0.1650509959f;
  g = g * t - 0.02704660827f;
  g = g * t + 0.1071145876f;
  g = g * t + 0.1194449168f;
  g = g * t + 0.1399122981f;
  g = g * t + 0.1396187126f;
  const float tail = e * t * g;
  return {x < 0.0f ? tail : 1.0f - tail, 0.398942280f * e};
}

// What goes over a row works on so many elements at once: they fill the registers of every machine.
inline constexpr int kLanes = 16;

// The sum over i in [0, count) of term(i): a sum for each lane, added in a fixed order at the end.
template <class Term>
ENGRAM_INLINE float sum_of(int count, const Term& term) {
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  for (int l = 0; i + l < count; ++l) lanes[l] += term(i + l);
  for (int step = kLanes / 2; step > 0; step /= 2) {
    for (int l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

// out[i] = term(i) for i in [0, count). A term may read what its own element of out held: it goes through
// memory that nothing else points to, without which a compiler would fear for the next element.
template <class Term>
ENGRAM_INLINE void map_row(int count, float* out, const Term& term) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    float lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = term(i + l);
    for (int l = 0; l < kLanes; ++l) out[i + l] = lanes[l];
  }
  for (; i < count; ++i) out[i] = term(i);
}

}  // namespace engram::cpu
