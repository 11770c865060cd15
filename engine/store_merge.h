// Several states into a new one: what many devices learned, known to one. Statistics add up, so in
// the exact arithmetic the result is, to the bit, the learner that saw all of their samples.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "platform/file.h"
#include "platform/status.h"

namespace engram {

struct MergeReport {
  std::int64_t samples = 0;
  std::vector<ClassInfo> classes;  // the union of all names
  std::string digest;
  Form form = Form::dense;
  ReadoutReport readout;
  std::vector<std::string> notes;  // sentences: what is not as one may expect
};

// Reads `inputs`, folders of states or exported files (engine/state_file.h), without a lock and leaves
// them as they are; makes `output`, which must not be a state yet. All or nothing, also through a power
// cut. invalid_argument: learners that cannot be added up (each difference is named), or samples that
// would count twice: a state with itself or a copy, or with one that it was merged into. At any time two
// inputs are in memory. `device`: in the audit trail; empty: the host's name.
Result<MergeReport> merge_stores(std::span<const std::string> inputs, const std::string& output,
                                 FileSystem& files = real_files(), const std::string& device = "");

}  // namespace engram
