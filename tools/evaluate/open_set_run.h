// `engram evaluate --open-set`: classes held out, measured and written.
#pragma once

#include "platform/status.h"
#include "tools/console/console.h"
#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/evaluation_data.h"
#include "tools/evaluate/evaluation_options.h"

namespace engram {

// For every seed, with the first head's learner; `evaluation` has scale and gain. Writes
// open_set.txt, open_set.json, reliability.svg and reliability_known.svg.
Status evaluate_open_set(const EvaluateOptions& options, const EvaluationData& data,
                         const Evaluation& evaluation, const Console& console);

}  // namespace engram
