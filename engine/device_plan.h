// What a learner needs of a device beyond the rows of memory_plan.h.
#pragma once

#include <cstdint>

#include "engine/config.h"

namespace engram {

// Staging memory (platform/device_staging.h) for the operands that lie in ordinary vectors: solutions
// (K, N) and rows (256, M) of samples on their way through two operations. Taken when a learner is
// made; more classes than that grow it at the end of a task. Counted here as well: the readout (K, M)
// that is being solved, which on a CPU needs no memory of its own.
std::int64_t staging_bytes(const LearnerConfig& config, int classes);
// Of a reader, whose readout the device reaches: features and scores of a batch, where they lie in
// ordinary memory.
std::int64_t reader_staging_bytes(const LearnerConfig& config, int classes);

}  // namespace engram
