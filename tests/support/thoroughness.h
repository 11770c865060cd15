// How many cases tests with hundreds of them go through: all, or each n-th where $ENGRAM_TEST_EVERY
// says n. Under emulation a case takes tens of times longer (tools/test --tier aarch64).
#pragma once

#include <algorithm>
#include <cstdlib>

namespace engram::test {

// The step from one case to the next, and what to divide the least number of cases by. Kinds of cases
// alternate by 2, 3, 4 or 5: an n that shares no factor with these, such as 7, meets all of them.
inline int every() {
  const char* text = std::getenv("ENGRAM_TEST_EVERY");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

}  // namespace engram::test
