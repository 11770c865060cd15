// A learner in one place on disk: what is acknowledged survives kill -9 and power loss.
//
//   DIR/snapshot   config, classes, G, C as of some sequence number
//   DIR/journal    every event since: learned batches, ends of tasks, edits; each record checksummed
//   DIR/readout    what classify needs, and only that: small and quick to load; always of the last end
//                  of a task or edit, while learner().refresh() may be ahead of it in memory
//   DIR/lock       held by the one process that may write
//
// Order of a learned batch: journal, fsync, then statistics, then the caller is told. Order of the
// end of a task: solve, readout written beside and fsynced, journal, fsync, readout renamed. Opening
// for writing loads the snapshot and replays the journal; opening for reading takes the readout
// alone, so readers never wait and never touch G. engine/README.md: formats, and what survives what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/event.h"
#include "engine/journal.h"
#include "engine/learner.h"
#include "engine/store_files.h"
#include "engine/store_history.h"
#include "platform/file.h"
#include "platform/status.h"

namespace engram {

// What an edit did.
struct EditReport {
  std::vector<Step> steps;               // undo: what was taken back, newest first
  std::vector<ClassInfo> changed;        // samples that it touched, by the label they had
  std::vector<std::string> gone;         // classes that have no samples any more
  std::int64_t samples = 0;              // that it touched
  std::optional<ReadoutReport> readout;  // none: there was none before, or nothing is left
  std::string note;                      // empty, or what else there is to know
};

struct AddedState;

class Store {
 public:
  // A new learner in `directory` (made if absent; refused if it holds a state already, or a file called
  // journal that is none of ours). All or nothing.
  static Result<Store> create(const std::string& directory, const LearnerConfig& config,
                              FileSystem& files = real_files());
  // The same with what `learner` knows already, readout and all. `by`: which device does what, the
  // newest entry of the audit trail.
  struct Maker {
    std::string device, what;
  };
  static Result<Store> create(const std::string& directory, Learner learner, History history,
                              const Maker& by, FileSystem& files = real_files());
  // For writing. busy: another process writes. not_found: no state here. bad_data: damaged, and
  // what to do. not_supported: made by a newer version. Compacts where samples that were taken back are
  // in the journal still, if their features were kept. `journal_limit`: tests take a small one.
  static Result<Store> open(const std::string& directory, FileSystem& files = real_files(),
                            std::size_t journal_limit = kMaxJournalBytes);
  // The same in two parts, for who answers from the readout file in between: `reserve` takes the lock
  // (busy, not_found), `open` reads.
  struct Reserved {
    std::string directory;
    FileLock lock;
  };
  static Result<Reserved> reserve(const std::string& directory);
  static Result<Store> open(Reserved reserved, FileSystem& files = real_files(),
                            std::size_t journal_limit = kMaxJournalBytes);
  static bool exists(const std::string& directory);
  // For who made a state and then had nothing to put into it: takes its files away again (directory
  // and lock stay, as after a create that failed). invalid_argument: it holds something. Whatever it
  // returns, nothing more can be written.
  Status discard();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Journal, fsync, statistics. After ok() the batch is durable; after a failure it is absent from
  // both memory and disk. `continues`: part of the step of the batch before.
  Status learn(const SampleBatch& batch, StepPart part = StepPart::begins);
  // Solves, writes the new readout file, journals the end of the task with its lambda. After a
  // failure the task is still open; only when the very last step fails, the rename of the readout
  // file, it has ended and the message says so. `may_end` is asked between the solve and the journal:
  // what it returns, unless it is ok, is a failure like any other.
  using MayEnd = std::function<Status()>;
  Result<ReadoutReport> end_task(const MayEnd& may_end = {});

  // Editing what was learned. Each solves for a new readout where there was one, and is one event:
  // after ok() all of it is durable, after a failure nothing has changed, in memory or on disk (or
  // the message says that only the readout file is not in place yet). not_found: no such class or
  // sample. invalid_argument: more steps than there are. not_supported: rows that are needed are not
  // kept, or a sum may have rounded; why, and what to do. One event is one record of the journal, and
  // holds the samples it touches: invalid_argument, too, for more than 64 MB of them (86 000 of 768
  // exact features).
  Result<EditReport> undo(int steps = 1);
  Result<EditReport> forget(const std::string& label);  // and compacts: no byte of it stays
  Result<EditReport> relabel(std::vector<std::int64_t> ids, const std::string& label);
  Result<EditReport> relabel_last(int steps, const std::string& label);
  Result<EditReport> rename(const std::string& from, const std::string& to);
  // All that another state knows, with its steps and its audit trail: as the end of a task, and as one
  // event, which is the new snapshot itself. `device`: of the entry in the trail. invalid_argument:
  // what adding_up.h refuses.
  Result<EditReport> merge(const AddedState& other, const std::string& device);
  // The steps that can be undone, oldest first.
  Result<std::vector<Step>> steps() const;

  // After a failure of learner(), `reason`: if it was that its device was lost, all is read from the
  // disk again, and learner() computes on the CPU. ok: that is so, what failed can be tried again.
  // Else `reason`, or why nothing more can be written. No other thread may use learner() meanwhile.
  Status recover(const Status& reason);

  // Writes a new snapshot and starts an empty journal. learn and end_task do it by themselves when
  // compaction_due(); a failure then is no failure of theirs, but is told by note().
  Status compact();

  Learner& learner();
  const Learner& learner() const;
  std::int64_t sequence() const;  // of the last durable event
  const StoreMark& mark() const;  // its digest is that of the last snapshot at most
  const History& history() const;
  std::int64_t journal_bytes() const;
  const std::string& recovery_note() const;  // empty, or what opening had to repair
  const std::string& note() const;           // empty, or why compaction by itself failed

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whether replaying the journal has become dearer than writing a snapshot. A cheap estimate, of an
// embedded device rather than of this machine: replay M^2 operations a sample at 20 G/s, a disk of
// 100 MB/s. Due when replay would take 2 s more than writing the snapshot (M 2 000: 10 400 samples,
// M 10 000: 800), or when the journal has 64 MB.
bool compaction_due(const LearnerConfig& config, std::int64_t journal_samples,
                    std::int64_t journal_bytes);

// What a reader needs: the readout file alone, checked, plus the config that made it.
struct StoredReadout {
  LearnerConfig config;
  Readout readout;
  std::int64_t sequence = 0;  // of the last event in it
};
// not_found: no state, or no task has ended yet (the message says which).
Result<StoredReadout> read_readout(const std::string& directory);
// Another kind from the same state: snapshot and journal are read, without a lock, and solved with
// the lambda of the last end of a task; everything learned counts.
Result<StoredReadout> read_readout(const std::string& directory, ReadoutKind kind);

// Checks every byte of snapshot, journal and readout without changing anything; replays and
// compares. Fails where nothing is known about the bytes: not_supported if a newer version wrote them.
struct VerifyReport {
  bool ok = false;
  std::vector<std::string> findings;  // one sentence each: what is damaged, what that means
  std::int64_t samples = 0;
  std::int64_t sequence = 0;
  std::string digest;
};
Result<VerifyReport> verify_store(const std::string& directory);

}  // namespace engram
