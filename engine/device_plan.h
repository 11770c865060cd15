// What a learner needs of a device beyond the rows of memory_plan.h.
#pragma once

#include <cstdint>

#include "engine/config.h"
#include "platform/status.h"

namespace engram {

// Staging memory (platform/device_staging.h) for the operands that lie in ordinary vectors: the
// readout (K, M) and what replaces it, and rows (256, M) of samples on their way through two
// operations. Taken when a learner is made; more classes than that grow it at the end of a task.
std::int64_t staging_bytes(const LearnerConfig& config, int classes);

// largest_hidden of memory_plan.h on a device with a GPU: the plan and its staging memory fit.
Result<int> largest_hidden_on_gpu(LearnerConfig config, int classes, std::int64_t budget,
                                  std::int64_t task_samples = 1000);

}  // namespace engram
