// The parts of a Store; private to store.cpp and store_open.cpp.
#pragma once

#include <string>

#include "engine/event.h"
#include "engine/journal.h"
#include "engine/store.h"
#include "engine/store_files.h"

namespace engram {

struct Store::Impl {
  StorePaths paths;
  FileSystem* files;
  FileLock lock;
  Learner learner;
  StoreMark mark;  // of what is in memory and durable; its digest is filled in when written
  Journal journal;
  std::int64_t journal_samples = 0;
  std::string recovery_note = {};
  std::string note = {};
  std::int64_t compact_again_at = 0;  // after a failure: not before the journal has grown so far

  Status refuse_if_broken() const;
  // The readout file for the current learner, whole on the disk but not yet published.
  Result<SnapshotWriter> prepare_readout(const Readout& readout, std::int64_t sequence,
                                         const std::string& digest);
  // To the journal; a full one is compacted first.
  Status append(Store& store, const EncodedEvent& event);
  void compact_if_due(Store& store);
};

// The learner and its mark as DIR/snapshot, by atomic replacement.
Status write_snapshot(const StorePaths& paths, const StoreMark& mark, const Learner& learner,
                      FileSystem& files);

}  // namespace engram
