// What a learner needs of a device beyond the rows of memory_plan.h.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config.h"
#include "platform/status.h"

namespace engram {

// Staging memory (platform/device_staging.h) for the operands that lie in ordinary vectors: solutions
// (K, N) and rows (256, M) of samples on their way through two operations. Taken when a learner is
// made; more classes than that grow it at the end of a task. Counted here as well: the readout (K, M)
// that is being solved, which on a CPU needs no memory of its own.
std::int64_t staging_bytes(const LearnerConfig& config, int classes);
// Of a reader, whose readout the device reaches: features and scores of a batch, where they lie in
// ordinary memory.
std::int64_t reader_staging_bytes(const LearnerConfig& config, int classes);

// largest_hidden of memory_plan.h on a device with a GPU: the plan and its staging memory fit.
Result<int> largest_hidden_on_gpu(LearnerConfig config, int classes, std::int64_t budget,
                                  std::int64_t task_samples = 1000,
                                  std::optional<std::int64_t> samples = std::nullopt);

}  // namespace engram
