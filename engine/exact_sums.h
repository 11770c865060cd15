// Until where sums of whole numbers in float are exact.
#pragma once

#include <cstdint>

namespace engram {

inline constexpr std::int64_t kLargestExact = std::int64_t{1} << 24;  // every whole number up to it

}  // namespace engram
