#include "platform/half.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/support/catch.h"

using namespace engram;

TEST_CASE("every half comes back from float as it was", "[platform][half]") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) {
      CHECK(std::isnan(rounded_to_half(value)));
      continue;
    }
    if (to_half(value) != half || rounded_to_half(value) != value) FAIL("half " << bits);
  }
  CHECK(from_half(0x3c00) == 1.0f);
  CHECK(from_half(0x7bff) == kLargestHalf);
  CHECK(from_half(0x0001) == 0x1p-24f);
  CHECK(from_half(0xc000) == -2.0f);
}

TEST_CASE("floats go to the nearest half, ties to even", "[platform][half]") {
  // Between two neighbouring halves: the middle goes to the even one, all else to the nearer.
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_half(static_cast<std::uint16_t>(bits));
    const float high = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact: a float has 13 bits more
    const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    const bool right = to_half(middle) == even && to_half(std::nextafter(middle, low)) == bits &&
                       to_half(std::nextafter(middle, high)) == bits + 1;
    if (!right) FAIL("above half " << bits);
  }
  CHECK(to_half(65519.996f) == 0x7bff);
  CHECK(to_half(65520.0f) == 0x7c00);
  CHECK(to_half(-std::numeric_limits<float>::infinity()) == 0xfc00);
}

TEST_CASE("rounding without branches agrees with the two conversions", "[platform][half]") {
  std::mt19937 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    const auto a = std::bit_cast<std::uint32_t>(rounded_to_half(value));
    const auto b = std::bit_cast<std::uint32_t>(from_half(to_half(value)));
    if (a != b) FAIL("float of the bits " << bits);
  }
}
