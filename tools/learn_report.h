// What `engram learn` says when it is done.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "tools/pictures/picture_stream.h"
#include "tools/session.h"

namespace engram {

struct LearnOutcome {
  std::map<std::string, std::int64_t> learned;  // per label
  std::int64_t samples = 0;                     // learned now
  std::vector<SkippedPicture> skipped;
  double seconds = 0;
  std::optional<ReadoutReport> readout;  // none: the task stays open
};

void report_learned(const Session& session, const Learner& learner, const LearnOutcome& outcome);

}  // namespace engram
