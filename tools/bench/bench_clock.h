// The clock of a benchmark: with one thread its CPU time, which other programs hardly disturb.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "platform/threads.h"

namespace engram::bench {

inline double clock_seconds() {
  if (thread_count() > 1) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// The best of `turns` times of one call, each measured over `calls` of them.
template <class Work>
double best_seconds(int turns, int calls, Work&& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < turns; ++turn) {
    const double start = clock_seconds();
    for (int call = 0; call < calls; ++call) work();
    best = std::min(best, (clock_seconds() - start) / calls);
  }
  return best;
}

}  // namespace engram::bench
