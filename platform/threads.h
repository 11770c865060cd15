// The program's worker threads: one pool for all CPU kernels, and the same count for OpenBLAS.
//
// The learner's results do not depend on the count: whole-number sums are the same in any order.
#pragma once

#include <functional>

namespace engram {

// 0 means one thread per core that this process may use. Call at start, not while kernels run.
void set_thread_count(int count);
int thread_count();

// Calls body(begin, end) on disjoint ranges that cover [0, count), several at a time; returns when
// all have ended. A range is a multiple of `grain` long (the last may be shorter). The calling
// thread works too; with one thread, or with one range, nothing is handed over. Not reentrant from
// inside a body. Allocates nothing.
void parallel_for(int count, int grain, const std::function<void(int begin, int end)>& body);

}  // namespace engram
