// `engram evaluate --phase1`: the backbone adapts to the first task of each class order, and every
// head is run again on the adapted features.
//
// The first task is the protocol's own (engine/protocol_schedule.h): the classes of task 1, the first
// domain, the first part of a stream, or everything. Later tasks are never seen while it adapts. No
// model is stored.
#pragma once

#include "platform/status.h"
#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/evaluation_data.h"
#include "tools/evaluate/evaluation_options.h"
#include "tools/session.h"

namespace engram {

// Whether it can be done at all, before anything long: pictures, a method, a plain Vision
// Transformer.
Status check_phase1(const EvaluateOptions& options, const GlobalOptions& global);
// Adds a row beside each of evaluation.rows, and evaluation.phase1. `data`: with paths.
Status run_phase1(const EvaluateOptions& options, const EvaluationData& data,
                  const Session& session, Evaluation& evaluation);

}  // namespace engram
