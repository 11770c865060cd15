// How the trial of a model came to its end (model_trial.h), in sentences for the user.
#pragma once

#include <cstdint>
#include <string>

#include "platform/child_process.h"
#include "platform/status.h"

namespace engram {

// Somebody asked for the end: busy, as with `learn`.
Status stopped_adding();
// ok: the child came to its own end. `path` is the model, the limits are those that it had.
Status ended_by_force(const ChildOutcome& outcome, const std::string& path, std::int64_t memory,
                      int seconds);
// The child's failure_line(); bad_data: it was refused memory.
Status refused_in_trial(const std::string& line, const std::string& path, std::int64_t memory);
// The child said nothing that we know.
Status did_not_start(const ChildOutcome& outcome, const std::string& path);

}  // namespace engram
