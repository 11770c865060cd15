// A learner's state as it lies in a snapshot: parsed, and checked before anything is made of it.
//
// Sizes are compared with the file's own, and counts with each other, so that nothing larger than the
// file is ever asked for. Sections: learner_save.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/class_list.h"
#include "engine/config.h"
#include "engine/form.h"
#include "engine/readout.h"
#include "engine/saved_sections.h"
#include "engine/snapshot.h"
#include "platform/status.h"

namespace engram {

struct SavedProgress {
  Form form = Form::dense;  // states of earlier versions do not say
  std::int64_t tasks = 0, task_samples = 0, exact_until = 0;
  std::int64_t next_id = -1, closed_ids = -1;  // where an earlier version did not say: made up
  std::int64_t sums_only = -1;                 // dense; the same
  std::int64_t readout_classes = 0, readout_samples = 0;
  double readout_lambda = 0;
};

// Borrows from the snapshot.
struct SavedLearner {
  LearnerConfig config;
  SavedProgress progress;
  std::vector<ClassInfo> classes;
  std::span<const std::byte> gram, sums;    // dense
  std::span<const std::byte> feature_sums;  // dense
  bool has_feature_sums = true;             // dense states of format 1 have none
  SavedSamples samples;                     // of the open task; factored: all
  std::vector<std::int64_t> ids;            // of these samples
  SavedSamples kept;                        // dense, where features are kept: those with a row
  std::vector<std::int64_t> kept_ids;       // of these
  std::span<const std::byte> hidden;        // factored, floating: hidden units; else computed again
  std::shared_ptr<const Readout> readout;   // null: none was solved yet
};

// bad_data: what does not fit, and that the file was not changed.
Result<SavedLearner> parse_learner(const SnapshotReader& reader);

}  // namespace engram
