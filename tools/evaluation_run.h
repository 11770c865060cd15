// Runs every row of an evaluation for every seed.
#pragma once

#include "platform/status.h"
#include "tools/console.h"
#include "tools/evaluation.h"
#include "tools/evaluation_data.h"
#include "tools/evaluation_options.h"

namespace engram {

// Fills in evaluation.rows[...].runs; `evaluation` has scale, gain and the rows without runs.
Status run_rows(const EvaluateOptions& options, const EvaluationData& data, const Console& console,
                Evaluation& evaluation);

}  // namespace engram
