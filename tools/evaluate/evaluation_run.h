// Runs every row of an evaluation for every seed.
#pragma once

#include <cstdint>
#include <span>

#include "platform/status.h"
#include "tools/console/console.h"
#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/evaluation_data.h"
#include "tools/evaluate/evaluation_options.h"

namespace engram {

// The constants of the exact arithmetic for these features.
struct RunScale {
  float feature_scale = 0;
  std::int32_t hidden_mul = 0;
};

// Adds a run for each of these class orders, and each projection, to every row.
Status add_runs(const EvaluateOptions& options, const EvaluationData& data,
                std::span<const std::uint32_t> class_seeds, const RunScale& scale,
                const Console& console, std::span<EvaluationRow> rows);
// Fills in evaluation.rows[...].runs; `evaluation` has scale, gain and the rows without runs.
Status run_rows(const EvaluateOptions& options, const EvaluationData& data, const Console& console,
                Evaluation& evaluation);

}  // namespace engram
