// Which numbers may be a lambda, wherever one comes in: options, config, journal, snapshot.
#pragma once

namespace engram {

// Beyond this range a ridge is nothing or everything; float has it with room to spare. NaN: no.
inline constexpr double kSmallestLambda = 1e-30;
inline constexpr double kLargestLambda = 1e30;
// Of the largest eigenvalue: a float factor means nothing below it.
inline constexpr double kFloatFloor = 1e-6;
inline bool is_lambda(double value) {
  return value >= kSmallestLambda && value <= kLargestLambda;
}

}  // namespace engram
