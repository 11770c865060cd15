#include "engine/device_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/memory_plan.h"

namespace engram {

Result<int> largest_hidden_on_gpu(LearnerConfig config, int classes, std::int64_t budget,
                                  std::int64_t task_samples) {
  ENGRAM_ASSIGN(config.hidden, largest_hidden(config, classes, budget, task_samples));
  constexpr int kStep = 100;  // of largest_hidden
  for (; config.hidden >= kStep; config.hidden -= kStep) {
    const std::int64_t needed =
        plan(config, classes, task_samples).total() + staging_bytes(config, classes);
    if (needed <= budget) return config.hidden;
  }
  return Status(Code::out_of_memory,
                fmt::format("Even {} hidden units need more than {} MB, with what a GPU takes "
                            "beside them.",
                            kStep, budget / 1'000'000));
}

std::int64_t staging_bytes(const LearnerConfig& config, int classes) {
  const std::int64_t row =
      std::int64_t{sizeof(float)} * std::max({config.hidden_units(), config.features, 1});
  return row * (2 * std::int64_t{classes} + 2 * std::int64_t{kMaxBatchRows});
}

}  // namespace engram
