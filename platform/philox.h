// Philox4x32-10: random numbers by counter (Salmon, Moraes, Dror, Shaw: "Parallel random numbers:
// as easy as 1, 2, 3", 2011).
//
// A pure function of (counter, key): any word of any stream without the words before it, the same
// on every machine and in every order, in kernels too. Ten rounds of two 32 x 32 > 64 bit products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/matrix_view.h"

namespace engram {

// std::array has no members that nvcc lets a kernel call.
struct PhiloxWords {
  std::uint32_t words[4];

  ENGRAM_HOST_DEVICE std::uint32_t& operator[](std::size_t i) { return words[i]; }
  ENGRAM_HOST_DEVICE std::uint32_t operator[](std::size_t i) const { return words[i]; }
  const std::uint32_t* begin() const { return words; }
  const std::uint32_t* end() const { return words + 4; }
  bool operator==(const PhiloxWords&) const = default;
};

ENGRAM_HOST_DEVICE inline PhiloxWords philox(PhiloxWords counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;  // golden ratio, sqrt(3) - 1
  constexpr int kRounds = 10;
  auto key0 = std::uint32_t(key), key1 = std::uint32_t(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {std::uint32_t(product1 >> 32) ^ counter[1] ^ key0, std::uint32_t(product1),
               std::uint32_t(product0 >> 32) ^ counter[3] ^ key1, std::uint32_t(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

// The last word of the counter tells streams of one seed apart.
enum class PhiloxStream : std::uint32_t {
  signs = 0,
  gaussian = 1,
  split = 2,
  digest = 3,
  probes = 4,
  witnesses = 5,
  dropout = 6,
  start = 7,
  order = 8,
  augment = 9,
  held_out = 10
};

}  // namespace engram
