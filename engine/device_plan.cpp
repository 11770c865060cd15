#include "engine/device_plan.h"

#include <algorithm>

#include <fmt/format.h>

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

Result<int> largest_hidden_on_gpu(LearnerConfig config, int classes, std::int64_t budget,
                                  std::int64_t task_samples, std::optional<std::int64_t> samples) {
  ENGRAM_ASSIGN(config.hidden, largest_hidden(config, classes, budget, task_samples, samples));
  constexpr int kStep = 100;  // of largest_hidden
  for (; config.hidden >= kStep; config.hidden -= kStep) {
    const std::int64_t left = budget - staging_bytes(config, classes);
    const Result<int> fits = largest_hidden(config, classes, left, task_samples, samples);
    if (fits.ok() && fits.value() >= config.hidden) return config.hidden;
  }
  return Status(Code::out_of_memory,
                fmt::format("Even {} hidden units need more than {} MB, with what a GPU takes "
                            "beside them.",
                            kStep, budget / 1'000'000));
}

}  // namespace engram
