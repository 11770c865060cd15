// IEEE 754 half precision by bits: 1 sign, 5 exponent, 10 fraction. Largest 65504, smallest normal
// 2^-14, steps of 2^-24 below that. Written out because g++ 12 and clang 14 agree on no type for it
// on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace engram {

inline constexpr float kLargestHalf = 65504.0f;

// To the nearest half, ties to even, as the hardware rounds; from 65520 on infinity; NaN stays NaN.
inline std::uint16_t to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds to steps of 2^-24
    const float steps = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(steps) - 0x3f000000u));
  }
  const std::uint32_t odd = magnitude >> 13 & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude + 0xfffu + odd - 0x38000000u) >> 13));
}

inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float small = static_cast<float>(magnitude) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

// from_half(to_half(value)), without branches: loops over it become SIMD.
inline float rounded_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u)) & ~0x1fffu;
  const float steps = (std::bit_cast<float>(magnitude) + 0.5f) - 0.5f;
  std::uint32_t rounded = magnitude < 0x38800000u ? std::bit_cast<std::uint32_t>(steps) : normal;
  rounded = magnitude >= 0x477ff000u ? 0x7f800000u : rounded;
  rounded = magnitude > 0x7f800000u ? 0x7fc00000u : rounded;
  return std::bit_cast<float>(rounded | (bits & 0x80000000u));
}

}  // namespace engram
