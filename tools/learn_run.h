// The work of `engram learn`: pictures into an open state, and the end of their task.
#pragma once

#include <cstdint>

#include "engine/recogniser.h"
#include "platform/status.h"
#include "tools/learn_report.h"
#include "tools/live/stop_signals.h"
#include "tools/pictures/tree.h"
#include "tools/session.h"

namespace engram {

// All pictures of the tree, in batches that are durable one by one, as one step for undo. bad_data: none
// could be used. busy: a signal came, and the batch was finished. A failure says how many are learned
// all the same, and what to do then: who repeats the command learns those twice.
Result<LearnOutcome> learn_pictures(const Session& session, Recogniser& recogniser,
                                    const Tree& tree, const StopSignals& signals);

// Whether an end of a task would change what is answered.
bool has_task_to_end(const Learner& learner);
// `learned`: pictures that this command has learned, for the sentence of a failure. A signal in the
// middle of the solve ends the program with that sentence: the task stays open.
Result<ReadoutReport> end_learned_task(const Session& session, Recogniser& recogniser,
                                       std::int64_t learned, const StopSignals& signals);

}  // namespace engram
