// Which samples are watched instead of trained on: about one in ten of each class, by chance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace engram {

inline constexpr int kFewestToHoldOut = 5;  // samples of a class; of fewer none is held out

// Indices in order. Of a class with n >= 5 samples, max(1, round(n / 10)) of them, chosen by (seed, class,
// place in the class) alone: a sample more of another class changes nothing here. labels: 0 to
// classes - 1.
std::vector<int> choose_held_out(std::span<const int> labels, int classes, std::uint64_t seed);

}  // namespace engram
