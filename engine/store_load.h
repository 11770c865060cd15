// From files to a learner: snapshot, then the journal's events behind it.
#pragma once

#include <string>
#include <vector>

#include "engine/journal.h"
#include "engine/learner.h"
#include "engine/store_files.h"
#include "engine/store_history.h"
#include "platform/status.h"

namespace engram {

struct LoadedStore {
  Learner learner;
  StoreMark mark;                      // after the journal: sequence and ended are the newest
  std::int64_t snapshot_sequence = 0;  // what the snapshot holds
  std::int64_t snapshot_last_id = 0;   // the newest sample in it
  History history;
  std::int64_t journal_samples = 0;  // replayed from the journal
  std::vector<std::byte> journal;    // its bytes, that `scan` points into
  JournalScan scan;
  bool readout_is_current = false;    // the readout file is the one of mark.ended; none: for 0
  std::vector<std::string> findings;  // what a check found; only with LoadCheck::digests
};

enum class LoadCheck {
  none,
  digests,  // statistics are compared with the digests that were stored with them
};

// Changes nothing on disk. bad_data: damaged, or files that do not belong together. Reads the
// readout before the journal and the journal before the snapshot: while another process writes,
// what is read first is never newer than what is read later.
//
// Only the last end of a task or edit needs its readout: taken from the readout file or the
// snapshot, or solved again with the lambda that the journal holds.
Result<LoadedStore> load_store(const StorePaths& paths, LoadCheck check);

// The samples that can still be told apart: those that the learner keeps, or, where features may not be
// kept, those that are in the journal and in no snapshot yet.
Result<LearnedSamples> samples_at_hand(const LoadedStore& store);
Result<std::vector<Step>> steps_of(const LoadedStore& store);

}  // namespace engram
