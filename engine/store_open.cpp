// Store::exists, create, discard and open.
#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "engine/byte_io.h"
#include "engine/journal_layout.h"
#include "engine/store_impl.h"
#include "engine/store_load.h"

namespace engram {

namespace {

bool present(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::uint64_t draw_state_id() {
  std::random_device device;
  return std::uint64_t(device()) << 32 | device();
}

Result<Journal> open_empty_journal(const std::string& path, const JournalHeader& header,
                                   FileSystem& files, std::size_t limit) {
  ENGRAM_TRY(Journal::create(path, header, files));
  const JournalScan empty{.header = header, .records = {}, .end = journal_layout::kHeaderBytes};
  return Journal::open(path, empty, files, limit);
}

// A directory that an earlier run made, and could not make sure, is sure only now. Where the parent
// may not be read, others made the directory.
Status sync_parent(const std::string& directory, FileSystem& files) {
  const std::string parent = directory + "/..";
  return ::access(parent.c_str(), R_OK) == 0 ? sync_directory(parent, files) : Status();
}

// A journal without records is what a create that was cut off may leave: no state, and no loss.
bool holds_records(const std::string& path) {
  const auto bytes = read_file(path, journal_layout::kHeaderBytes);
  return !bytes.ok() && bytes.status().code() != Code::not_found;
}

// A file without records that is no beginning of a header either, nor zeros that a crash may have left,
// is somebody else's: no journal may take its place.
Status check_is_not_foreign(const std::string& path) {
  const auto bytes = read_file(path, journal_layout::kHeaderBytes);
  if (!bytes.ok()) return {};
  std::string begin = as_text(bytes.value()).substr(0, journal_layout::kMagic.size());
  begin.erase(begin.find_last_not_of('\0') + 1);
  if (journal_layout::kMagic.starts_with(begin)) return {};
  return Status(
      Code::invalid_argument,
      fmt::format("{}: is no file of Engram's, and a state would need its name. Nothing was "
                  "changed; choose another directory for the state.",
                  path));
}

bool holds_unlearned(const JournalScan& scan) {
  return std::any_of(scan.records.begin(), scan.records.end(),
                     [](const JournalRecord& record) { return record.kind == kUnlearnEvent; });
}

}  // namespace

bool Store::exists(const std::string& directory) {
  const StorePaths paths(directory);
  return present(paths.snapshot) || present(paths.readout) || holds_records(paths.journal);
}

Result<Store> Store::create(const std::string& directory, const LearnerConfig& config,
                            FileSystem& files) {
  ENGRAM_ASSIGN(Learner learner, Learner::create(config));
  ENGRAM_ASSIGN(const std::string host, device_name(""));
  return create(directory, std::move(learner), {}, {host, audit::kCreated}, files);
}

Result<Store> Store::create(const std::string& directory, Learner learner, History history,
                            const Maker& by, FileSystem& files) {
  const StorePaths paths(directory);
  ENGRAM_TRY(check_is_not_foreign(paths.journal));
  ENGRAM_TRY(make_directories(directory));
  ENGRAM_ASSIGN(FileLock lock, FileLock::acquire(paths.lock));
  if (exists(directory)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: holds a state already. Nothing was changed; use it, or choose "
                              "another directory.",
                              directory));
  }
  // What a learner already knows is as one event before the first of the journal.
  const std::int64_t sequence = learner.last_id() > 0 ? 1 : 0;
  const auto readout = learner.readout();
  const StoreMark mark{draw_state_id(), sequence, readout ? sequence : 0, learner.digest()};
  history.audit.push_back({by.device, mark.state, sequence, by.what, learner.samples(),
                           int(learner.classes().size()), mark.digest});
  // The snapshot makes it a state; a readout that is missing is made from it.
  Result<Journal> journal =
      open_empty_journal(paths.journal, {mark.state, sequence}, files, kMaxJournalBytes);
  Status status = journal.status();
  if (status.ok()) status = sync_parent(directory, files);
  if (status.ok()) status = write_snapshot(paths, mark, learner, history, files);
  std::unique_ptr<Impl> impl;
  if (status.ok()) {
    const std::int64_t last_id = learner.last_id();
    impl = std::make_unique<Impl>(Impl{.paths = paths,
                                       .files = &files,
                                       .lock = std::move(lock),
                                       .learner = std::move(learner),
                                       .mark = mark,
                                       .journal = std::move(journal).value(),
                                       .snapshot_sequence = sequence,
                                       .snapshot_last_id = last_id,
                                       .history = std::move(history)});
    if (readout) status = impl->publish_readout(*readout, sequence, mark.digest);
  }
  if (!status.ok()) {
    for (const std::string& path : {paths.snapshot, paths.readout, paths.journal}) {
      files.unlink(path.c_str());
    }
    return Status(status.code(),
                  fmt::format("No state was made in {}: {}", directory, status.what()));
  }
  return Store(std::move(impl));
}

Status Store::discard() {
  if (impl_->mark.sequence > 0) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: was learned into, so it stays.", impl_->paths.directory));
  }
  impl_->out_of_step = true;
  // The snapshot, which makes it a state, goes first: what a crash leaves then is none.
  for (const std::string& path : {impl_->paths.snapshot, impl_->paths.journal}) {
    if (impl_->files->unlink(path.c_str()) != 0) {
      return call_failed(path, "unlink", errno, "An empty state is left.");
    }
  }
  return sync_directory(impl_->paths.directory, *impl_->files);
}

Result<Store::Reserved> Store::reserve(const std::string& directory) {
  if (!exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state yet.", directory));
  }
  ENGRAM_ASSIGN(FileLock lock, FileLock::acquire(StorePaths(directory).lock));
  return Reserved{directory, std::move(lock)};
}

Result<Store> Store::open(const std::string& directory, FileSystem& files,
                          std::size_t journal_limit) {
  ENGRAM_ASSIGN(Reserved reserved, reserve(directory));
  return open(std::move(reserved), files, journal_limit);
}

Result<Store> Store::open(Reserved reserved, FileSystem& files, std::size_t journal_limit) {
  const std::string directory = reserved.directory;
  const StorePaths paths(directory);
  ENGRAM_ASSIGN(LoadedStore loaded, load_store(paths, LoadCheck::none));
  std::string repaired;
  if (loaded.scan.torn > 0) {
    repaired += fmt::format(
        "The last write to {} was cut off ({} bytes) and was never acknowledged; "
        "it was removed. ",
        paths.journal, loaded.scan.torn);
  }
  // What a killed process had begun to write may take the space that is missing now.
  for (const std::string& path : {paths.snapshot, paths.journal, paths.readout}) {
    files.unlink((path + ".new").c_str());  // mostly there is none; if it stays, nothing is lost
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
      renew ? open_empty_journal(paths.journal, {loaded.mark.state, loaded.mark.sequence}, files,
                                 journal_limit)
            : Journal::open(paths.journal, loaded.scan, files, journal_limit);
  if (!journal.ok()) return journal.status();

  auto impl = std::make_unique<Impl>(Impl{.paths = paths,
                                          .files = &files,
                                          .lock = std::move(reserved.lock),
                                          .learner = std::move(loaded.learner),
                                          .mark = loaded.mark,
                                          .journal = std::move(journal).value(),
                                          .journal_samples = loaded.journal_samples,
                                          .snapshot_sequence = loaded.snapshot_sequence,
                                          .snapshot_last_id = loaded.snapshot_last_id,
                                          .history = std::move(loaded.history)});
  if (!loaded.readout_is_current && impl->mark.ended == 0) {
    ENGRAM_TRY(impl->remove_readout());
    repaired += fmt::format("{} was of what is no longer known; it was removed. ", paths.readout);
  } else if (!loaded.readout_is_current) {
    const auto readout = impl->learner.readout();
    if (readout == nullptr) {
      return Status(
          Code::bad_data,
          fmt::format("{}: the snapshot lacks the readout of the last task.", paths.snapshot));
    }
    ENGRAM_TRY(impl->publish_readout(*readout, impl->mark.ended, impl->learner.digest()));
    repaired += fmt::format(
        "{} was missing, older than the last end of a task, or damaged; it was "
        "made again. ",
        paths.readout);
  }
  if (!repaired.empty()) repaired.pop_back();
  impl->recovery_note = std::move(repaired);
  // A `forget` that was killed before its compaction: its samples are in the journal still. Where
  // features are not kept, the journal must stay for undo.
  const bool compact_now =
      !renew && impl->learner.config().keep_features && holds_unlearned(loaded.scan);
  Store store(std::move(impl));
  if (compact_now) store.impl_->compact_by_itself(store);
  return store;
}

}  // namespace engram
