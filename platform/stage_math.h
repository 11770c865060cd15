// Numbers for the stage: seeded chance and smooth textures. Only operations that IEEE 754 rounds in
// one way (+ - * / and square root), so that every machine draws the same picture.
#pragma once

#include <cstdint>

namespace engram::stage {

// A well-mixed function of its argument (splitmix64).
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

inline float unit_of(std::uint64_t bits) {  // [0, 1)
  return static_cast<float>(bits >> 40) * (1.0f / 16777216.0f);
}

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(mixed(seed)) {}
  std::uint64_t bits() { return mixed(state_++); }
  float between(float low, float high) { return low + (high - low) * unit_of(bits()); }
  int below(int count) { return static_cast<int>(bits() % static_cast<std::uint64_t>(count)); }
  bool happens(float probability) { return unit_of(bits()) < probability; }

 private:
  std::uint64_t state_;
};

inline float mix(float a, float b, float t) {
  return a + (b - a) * t;
}
inline float smooth(float t) {
  return t * t * (3.0f - 2.0f * t);
}  // 0..1 to 0..1, flat at the ends
inline float clamp_unit(float t) {
  return t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
}
inline int floor_of(float x) {
  const int whole = static_cast<int>(x);
  return x < static_cast<float>(whole) ? whole - 1 : whole;
}
inline float fraction(float x) {
  return x - static_cast<float>(floor_of(x));
}
// A wave of period 1 between 0 and 1: nearly a sine.
inline float wave(float x) {
  const float t = fraction(x);
  return smooth(t < 0.5f ? 2.0f * t : 2.0f - 2.0f * t);
}

// Smooth noise in 0..1 with one bump per unit square.
inline float bumps(float x, float y, std::uint64_t seed) {
  const int column = floor_of(x), row = floor_of(y);
  const auto corner = [&](int dx, int dy) {
    const auto place = static_cast<std::uint64_t>(static_cast<std::uint32_t>(column + dx)) << 32 |
                       static_cast<std::uint32_t>(row + dy);
    return unit_of(mixed(place ^ seed));
  };
  const float tx = smooth(x - static_cast<float>(column)), ty = smooth(y - static_cast<float>(row));
  return mix(mix(corner(0, 0), corner(1, 0), tx), mix(corner(0, 1), corner(1, 1), tx), ty);
}

// Noise with detail: three layers of bumps, each half as large and half as strong. 0..1
inline float rough(float x, float y, std::uint64_t seed) {
  return (4.0f * bumps(x, y, seed) + 2.0f * bumps(2.0f * x, 2.0f * y, seed + 1) +
          bumps(4.0f * x, 4.0f * y, seed + 2)) *
         (1.0f / 7.0f);
}

}  // namespace engram::stage
