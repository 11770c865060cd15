// Time that only goes forward, for how long something takes.
#pragma once

#include <chrono>

namespace engram {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return 1000 * seconds_since(start);
}
// Only the difference of two means anything.
inline double seconds_now() {
  return seconds_since({});
}

}  // namespace engram
