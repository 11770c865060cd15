// Counts every allocation of the process (malloc and all that is built on it), ours and libraries',
// except those that OpenBLAS makes for itself: it takes a job list for each call that it spreads
// over threads.
#pragma once

#include <cstddef>

namespace engram::test {

// False under sanitizers, which replace malloc themselves, and without glibc.
bool counts_allocations();
long allocations();  // since the start
// The n-th allocation of this thread from now on (1: the next) of `at_least` bytes fails, once; 0: none
// does. True: one that was asked for before has failed.
bool fail_allocation(long n, std::size_t at_least = 0);

}  // namespace engram::test
