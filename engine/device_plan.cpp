#include "engine/device_plan.h"

#include <algorithm>

#include "engine/memory_plan.h"

namespace engram {

std::int64_t staging_bytes(const LearnerConfig& config, int classes) {
  const std::int64_t row =
      std::int64_t{sizeof(float)} * std::max({config.hidden_units(), config.features, 1});
  return row * (2 * std::int64_t{classes} + 2 * std::int64_t{kMaxBatchRows});
}

std::int64_t reader_staging_bytes(const LearnerConfig& config, int classes) {
  return std::int64_t{sizeof(float)} * batch_rows(config) *
         (std::int64_t{config.features} + std::int64_t{classes} + 16);
}

}  // namespace engram
