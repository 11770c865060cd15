// The memory that OpenBLAS computes in: a buffer of 128 MB for each thread that is inside it, asked for
// when first needed and kept. Where the system has none left it asks again for ever, and its own threads
// do so too, for which the end of the process waits. So whether there is any is asked beforehand.
#pragma once

#include "platform/status.h"

namespace engram {

// Makes OpenBLAS take what the threads of the pool, and those that work beside it, will need.
// out_of_memory: it is not to be had. Call after set_thread_count.
Status reserve_blas_memory();

// False: OpenBLAS would ask in vain, or does so already.
bool blas_finds_memory();

}  // namespace engram
