// The parts of a Store; private to store*.cpp.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "engine/event.h"
#include "engine/journal.h"
#include "engine/store.h"
#include "engine/store_files.h"
#include "engine/store_history.h"

namespace engram {

struct Store::Impl {
  StorePaths paths;
  FileSystem* files;
  FileLock lock;
  Learner learner;
  StoreMark mark;  // of what is in memory and durable; its digest is filled in when written
  Journal journal;
  std::int64_t journal_samples = 0;
  std::int64_t snapshot_sequence = 0;  // what the snapshot holds, and the newest sample in it
  std::int64_t snapshot_last_id = 0;
  History history = {};
  bool step_is_open = false;  // the last thing that was done is learning
  bool out_of_step = false;   // memory and disk differ, and reading it all again failed
  std::string recovery_note = {};
  std::string note = {};
  std::int64_t compact_again_at = 0;  // after a failure: not before the journal has grown so far

  Status refuse_if_broken() const;
  // The readout file for the current learner, whole on the disk but not yet published.
  Result<SnapshotWriter> prepare_readout(const Readout& readout, std::int64_t sequence,
                                         const std::string& digest);
  Status publish_readout(const Readout& readout, std::int64_t sequence, const std::string& digest);
  // A full journal is compacted first.
  Status make_room(Store& store, std::size_t payload_bytes);
  Status append(Store& store, const EncodedEvent& event);
  void compact_if_due(Store& store);
  void compact_by_itself(Store& store);  // a failure is told by `note`

  // Of editing (store_edit.cpp).
  Result<LearnedSamples> samples_at_hand() const;
  // Samples up to this one may be in sums alone.
  std::int64_t sums_only() const {
    return learner.config().keep_features ? learner.sums_only() : snapshot_last_id;
  }
  // ok if there are that many steps to go back.
  Status check_steps(int count, const std::vector<Step>& steps,
                     const LearnedSamples& samples) const;
  Result<EditReport> edit(Store& store, Edit edit);
  Status make_learned(Store& store, const SampleBatch& batch, StepPart part);
  struct MadeEnd;
  Result<MadeEnd> make_end(Store& store, const MayEnd& may_end);
  struct MadeEdit;
  // In memory and in the journal; what is left to do needs no memory.
  Result<MadeEdit> make_edit(Edit& edit);
  struct MadeMerge;
  // In memory, and in files that are whole but not yet published.
  Result<MadeMerge> make_merge(const AddedState& other, const std::string& device);
  Result<std::optional<Learner::Solution>> solve_after_edit();
  Status remove_readout();
  // What was done in memory and did not come to the disk is forgotten: all is read again, by the CPU
  // if the device was lost. Returns `reason`, or that the device was lost.
  Status restore(Status reason);
  Status restore_without_memory();
  // What `change` returns. If memory runs out in it, what it did is forgotten: restore().
  template <class Change>
  auto or_restored(Change&& change) -> decltype(change()) {
    try {
      return change();
    } catch (const std::bad_alloc&) {
      return restore_without_memory();
    }
  }
  // `reason`; but if memory may hold half of a change all is read again: the learner's device was
  // lost, and the CPU goes on, or it found no memory on its way.
  Status after_failure(Status reason);
};

// The learner and its mark as DIR/snapshot, by atomic replacement.
Status write_snapshot(const StorePaths& paths, const StoreMark& mark, const Learner& learner,
                      const History& history, FileSystem& files);

}  // namespace engram
