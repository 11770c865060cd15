#include "engine/store.h"

#include <random>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "engine/event.h"
#include "engine/journal.h"
#include "engine/journal_layout.h"
#include "engine/store_files.h"
#include "engine/store_load.h"

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

  Status refuse_if_broken() const {
    if (journal.usable()) return {};
    return Status(
        Code::io_failure,
        fmt::format("{}: an earlier write failed and could not be undone, so this process "
                    "writes nothing more. What was acknowledged is safe; open the state "
                    "again.",
                    paths.directory));
  }

  // The readout file for the current learner, whole on the disk but not yet published.
  Result<SnapshotWriter> prepare_readout(const Readout& readout, std::int64_t sequence,
                                         const std::string& digest) {
    ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(paths.readout, *files));
    const StoreMark readout_mark{mark.state, sequence, sequence, digest};
    ENGRAM_TRY(write_readout(writer, readout_mark, learner.config(), readout));
    ENGRAM_TRY(writer.finish());
    return writer;
  }

  void compact_if_due(Store& store) {
    if (journal.bytes() < compact_again_at ||
        !compaction_due(learner.config(), journal_samples, journal.bytes())) {
      return;
    }
    const Status status = store.compact();
    note = status.ok() ? "" : fmt::format("The journal could not be compacted: {}", status.what());
    compact_again_at = status.ok() ? 0 : 2 * journal.bytes();
  }
};

namespace {

bool present(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::uint64_t draw_state_id() {
  std::random_device device;
  return std::uint64_t(device()) << 32 | device();
}

Status write_snapshot(const StorePaths& paths, const StoreMark& mark, const Learner& learner,
                      FileSystem& files) {
  ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(paths.snapshot, files));
  ENGRAM_TRY(write_mark(writer, mark));
  ENGRAM_TRY(learner.save(writer));
  return writer.commit();
}

Result<Journal> open_empty_journal(const std::string& path, const JournalHeader& header,
                                   FileSystem& files) {
  ENGRAM_TRY(Journal::create(path, header, files));
  const JournalScan empty{.header = header, .records = {}, .end = journal_layout::kHeaderBytes};
  return Journal::open(path, empty, files);
}

// A journal without records is what a create that was cut off may leave: no state, and no loss.
bool holds_records(const std::string& path) {
  const auto bytes = read_file(path, journal_layout::kHeaderBytes);
  return !bytes.ok() && bytes.status().code() != Code::not_found;
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

bool Store::exists(const std::string& directory) {
  const StorePaths paths(directory);
  return present(paths.snapshot) || present(paths.readout) || holds_records(paths.journal);
}

Result<Store> Store::create(const std::string& directory, const LearnerConfig& config,
                            FileSystem& files) {
  ENGRAM_ASSIGN(Learner learner, Learner::create(config));
  const StorePaths paths(directory);
  ENGRAM_TRY(make_directories(directory));
  ENGRAM_ASSIGN(FileLock lock, FileLock::acquire(paths.lock));
  if (exists(directory)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: holds a state already. Nothing was changed; use it, or choose "
                              "another directory.",
                              directory));
  }
  const StoreMark mark{draw_state_id(), 0, 0, learner.digest()};
  // The snapshot comes last: without one there is no state.
  Result<Journal> journal = open_empty_journal(paths.journal, {mark.state, 0}, files);
  const Status status =
      journal.ok() ? write_snapshot(paths, mark, learner, files) : journal.status();
  if (!status.ok()) {
    files.unlink(paths.snapshot.c_str());
    files.unlink(paths.journal.c_str());
    return Status(status.code(),
                  fmt::format("No state was made in {}: {}", directory, status.what()));
  }
  return Store(std::make_unique<Impl>(Impl{.paths = paths,
                                           .files = &files,
                                           .lock = std::move(lock),
                                           .learner = std::move(learner),
                                           .mark = mark,
                                           .journal = std::move(journal).value()}));
}

Result<Store> Store::open(const std::string& directory, FileSystem& files) {
  const StorePaths paths(directory);
  if (!exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state yet.", directory));
  }
  ENGRAM_ASSIGN(FileLock lock, FileLock::acquire(paths.lock));
  ENGRAM_ASSIGN(LoadedStore loaded, load_store(paths, LoadCheck::none));
  std::string repaired;
  if (loaded.scan.torn > 0) {
    repaired += fmt::format(
        "The last write to {} was cut off ({} bytes) and was never acknowledged; "
        "it was removed. ",
        paths.journal, loaded.scan.torn);
  }
  // What an earlier process put in place must be sure before anything is built on it.
  ENGRAM_TRY(sync_directory(directory, files));

  // All events are in the snapshot: compaction was cut off before the new journal. It must be
  // started now, or new events could get numbers that the snapshot already covers.
  const bool renew = loaded.scan.header.base < loaded.snapshot_sequence &&
                     loaded.scan.sequence() <= loaded.snapshot_sequence;
  if (renew) {
    repaired += fmt::format("A compaction of {} was cut off; it was completed. ", directory);
  }
  Result<Journal> journal =
      renew ? open_empty_journal(paths.journal, {loaded.mark.state, loaded.mark.sequence}, files)
            : Journal::open(paths.journal, loaded.scan, files);
  if (!journal.ok()) return journal.status();

  auto impl = std::make_unique<Impl>(Impl{.paths = paths,
                                          .files = &files,
                                          .lock = std::move(lock),
                                          .learner = std::move(loaded.learner),
                                          .mark = loaded.mark,
                                          .journal = std::move(journal).value(),
                                          .journal_samples = loaded.journal_samples});
  if (!loaded.readout_is_current) {
    const auto readout = impl->learner.readout();
    if (readout == nullptr) {
      return Status(
          Code::bad_data,
          fmt::format("{}: the snapshot lacks the readout of the last task.", paths.snapshot));
    }
    ENGRAM_ASSIGN(SnapshotWriter writer,
                  impl->prepare_readout(*readout, impl->mark.ended, impl->learner.digest()));
    ENGRAM_TRY(writer.publish());
    repaired += fmt::format(
        "{} was missing, older than the last end of a task, or damaged; it was "
        "made again. ",
        paths.readout);
  }
  if (!repaired.empty()) repaired.pop_back();
  impl->recovery_note = std::move(repaired);
  return Store(std::move(impl));
}

Status Store::learn(const SampleBatch& batch) {
  if (batch.size() == 0 && batch.rows.empty()) return {};
  ENGRAM_TRY(impl_->refuse_if_broken());
  ENGRAM_TRY(impl_->learner.check(batch));
  ENGRAM_ASSIGN(const EncodedEvent event, encode(batch));
  ENGRAM_TRY(impl_->journal.append(event.kind, event.payload));
  if (const Status status = impl_->learner.learn(batch); !status.ok()) {
    ENGRAM_TRY(impl_->journal.take_back());
    return status;
  }
  impl_->mark.sequence = impl_->journal.sequence();
  impl_->journal_samples += std::int64_t(batch.size());
  impl_->compact_if_due(*this);
  return {};
}

Result<ReadoutReport> Store::end_task() {
  Impl& impl = *impl_;
  ENGRAM_TRY(impl.refuse_if_broken());
  ENGRAM_ASSIGN(const Learner::Solution solution, impl.learner.solve());
  const std::string digest = impl.learner.digest();
  ENGRAM_ASSIGN(SnapshotWriter writer,
                impl.prepare_readout(*solution.readout, impl.mark.sequence + 1, digest));
  const EncodedEvent event = encode(EndOfTask{solution.report.lambda, digest});
  ENGRAM_TRY(impl.journal.append(event.kind, event.payload));
  if (const Status status = impl.learner.close_task(solution.readout); !status.ok()) {
    ENGRAM_TRY(impl.journal.take_back());
    return status;
  }
  impl.mark.sequence = impl.mark.ended = impl.journal.sequence();
  if (const Status status = writer.publish(); !status.ok()) {
    return Status(
        status.code(),
        fmt::format("The task has ended and that is recorded, but other programs may still "
                    "see the readout before it: {} Opening the state again for writing "
                    "puts it right.",
                    status.what()));
  }
  impl.compact_if_due(*this);
  return solution.report;
}

Status Store::compact() {
  Impl& impl = *impl_;
  ENGRAM_TRY(impl.refuse_if_broken());
  StoreMark mark = impl.mark;
  mark.digest = impl.learner.digest();
  // Unless this is durable, the old journal must stay: it holds what the old snapshot lacks.
  ENGRAM_TRY(write_snapshot(impl.paths, mark, impl.learner, *impl.files));
  ENGRAM_TRY(impl.journal.start_over());
  impl.journal_samples = 0;
  return {};
}

Learner& Store::learner() {
  return impl_->learner;
}
const Learner& Store::learner() const {
  return impl_->learner;
}
std::int64_t Store::sequence() const {
  return impl_->mark.sequence;
}
std::int64_t Store::journal_bytes() const {
  return impl_->journal.bytes();
}
const std::string& Store::recovery_note() const {
  return impl_->recovery_note;
}
const std::string& Store::note() const {
  return impl_->note;
}

bool compaction_due(const LearnerConfig& config, std::int64_t journal_samples,
                    std::int64_t journal_bytes) {
  constexpr double kOperationsPerSecond = 20e9;
  constexpr double kDiskBytesPerSecond = 100e6;
  const double entries = double(config.hidden_units()) * config.hidden_units();
  const double replay_seconds = double(journal_samples) * entries / kOperationsPerSecond;
  const double snapshot_seconds = entries / 2 * sizeof(float) / kDiskBytesPerSecond;
  return replay_seconds > 2 + snapshot_seconds || journal_bytes > std::int64_t{64} << 20;
}

}  // namespace engram
