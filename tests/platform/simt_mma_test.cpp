// The emulated tensor cores against the definition, element by element through the fragments.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "platform/launch.h"
#include "tests/support/catch.h"

namespace engram::simt {
namespace {

// Per lane: 4 words of c, 4 of a, 2 of b.
using Words = std::vector<std::uint32_t>;

template <class Sum, auto kMma>
void mma_kernel(std::uint32_t* all) {
  std::uint32_t* words = all + 10 * threadIdx.x;
  Sum d[4];
  std::uint32_t a[4], b[2];
  std::memcpy(d, words, sizeof d);
  std::memcpy(a, words + 4, sizeof a);
  std::memcpy(b, words + 8, sizeof b);
  kMma(d, a, b, Place{"", 0});
  std::memcpy(words, d, sizeof d);
}

// The word and the place in it that hold element (row, inner) of a, or (inner, col) of b.
struct Spot {
  int word, place;
};
Spot spot_of_a(int row, int inner, int size, int packed) {
  const int half = inner / (size / 2), in_half = inner % (size / 2);
  return {10 * (4 * (row % 8) + in_half / packed) + 4 + row / 8 + 2 * half, in_half % packed};
}
Spot spot_of_b(int inner, int col, int size, int packed) {
  const int half = inner / (size / 2), in_half = inner % (size / 2);
  return {10 * (4 * col + in_half / packed) + 8 + half, in_half % packed};
}
int word_of_c(int row, int col) {
  return 10 * (4 * (row % 8) + col / 2) + 2 * (row / 8) + col % 2;
}

}  // namespace

TEST_CASE("simt: byte tensor cores", "[platform][simt]") {
  const bool b_is_signed = GENERATE(false, true);
  std::mt19937 random(1);
  Words words(320);
  for (std::uint32_t& word : words) word = random();
  const Words before = words;
  const Geometry geometry{.grid = dim3(1), .block = dim3(32)};
  const auto kernel =
      b_is_signed ? mma_kernel<std::int32_t, mma_u8s8> : mma_kernel<std::int32_t, mma_u8u8>;
  REQUIRE(launch(kernel, geometry, Stream{}, words.data()).ok());
  const auto byte = [&](Spot s) {
    return static_cast<std::uint8_t>(before[s.word] >> 8 * s.place);
  };
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 8; ++col) {
      std::uint32_t sum = before[word_of_c(row, col)];
      for (int i = 0; i < 32; ++i) {
        const std::uint8_t b = byte(spot_of_b(i, col, 32, 4));
        const int right = b_is_signed ? static_cast<std::int8_t>(b) : b;
        sum += static_cast<std::uint32_t>(byte(spot_of_a(row, i, 32, 4)) * right);
      }
      REQUIRE(words[word_of_c(row, col)] == sum);
    }
  }
}

TEST_CASE("simt: half tensor cores add whole numbers exactly", "[platform][simt]") {
  const TensorSum how = GENERATE(TensorSum::fused, TensorSum::sequential, TensorSum::truncating);
  options().tensor_sum = how;
  std::mt19937 random(2);
  Words words(320);
  for (int i = 0; i < 320; ++i) {
    const auto whole = [&] { return static_cast<float>(random() % 256); };
    words[i] = i % 10 < 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(random() % 15000000))
                          : pack_halves(whole(), whole());
  }
  const Words before = words;
  const Geometry geometry{.grid = dim3(1), .block = dim3(32)};
  REQUIRE(launch(mma_kernel<float, mma_f16>, geometry, Stream{}, words.data()).ok());
  options() = {};
  const auto half = [&](Spot s) {
    return from_half(static_cast<std::uint16_t>(before[s.word] >> 16 * s.place));
  };
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 8; ++col) {
      double sum = std::bit_cast<float>(before[word_of_c(row, col)]);
      for (int i = 0; i < 16; ++i) {
        sum += double{half(spot_of_a(row, i, 16, 2))} * half(spot_of_b(i, col, 16, 2));
      }
      REQUIRE(std::bit_cast<float>(words[word_of_c(row, col)]) == sum);
    }
  }
}

TEST_CASE("simt: halves are rounded to the nearest, ties to even", "[platform][simt]") {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {  // every half is its own
    const float value = from_half(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) REQUIRE(half_bits(value) == bits);
  }
  REQUIRE(half_bits(2049.0f) == half_bits(2048.0f));
  REQUIRE(half_bits(2051.0f) == half_bits(2052.0f));
  REQUIRE(half_bits(65519.0f) == half_bits(65504.0f));
  REQUIRE(half_bits(65520.0f) == 0x7c00);
  REQUIRE(from_half(half_bits(3e-8f)) == 0x1p-24f);
  REQUIRE(from_half(half_bits(-1e-9f)) == 0.0f);
  REQUIRE(std::isnan(from_half(half_bits(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace engram::simt
