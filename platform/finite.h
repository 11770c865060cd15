// Numbers that are numbers.
#pragma once

#include <algorithm>
#include <cmath>

namespace engram {

// No value is NaN or infinite.
template <class Values>
bool are_finite(const Values& values) {
  return std::ranges::all_of(values, [](auto value) { return std::isfinite(value); });
}

}  // namespace engram
