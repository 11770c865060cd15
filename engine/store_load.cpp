#include "engine/store_load.h"

#include <fmt/format.h>

#include "engine/event.h"

namespace engram {

namespace {

Status do_not_match(const StorePaths& paths, const std::string& what) {
  return Status(Code::bad_data,
                fmt::format("{}: {}. Nothing was changed. Restore the whole directory from a copy; "
                            "`engram verify` shows what else is affected.",
                            paths.directory, what));
}

// A readout file that can be used, or none. Damage of it is no failure: it can be made again.
Result<std::optional<ReadoutFile>> usable_readout(const StorePaths& paths) {
  Result<ReadoutFile> file = load_readout(paths);
  if (file.ok()) return std::optional(std::move(file).value());
  if (file.status().code() == Code::not_supported) return file.status();
  return std::optional<ReadoutFile>();
}

Status check_sequences(const StorePaths& paths, const StoreMark& snapshot, const JournalScan& scan,
                       const std::optional<ReadoutFile>& readout) {
  if (scan.header.state != snapshot.state) {
    return do_not_match(paths, "the journal belongs to another state than the snapshot");
  }
  if (scan.header.base > snapshot.sequence) {
    return do_not_match(paths, fmt::format("the snapshot ends with event {} and the journal begins "
                                           "after event {}: what lies between is missing",
                                           snapshot.sequence, scan.header.base));
  }
  if (!readout) return {};
  if (readout->mark.state != snapshot.state) {
    return do_not_match(paths, "the readout belongs to another state than the snapshot");
  }
  // The journal is durable before the readout: it can never be the older one.
  if (readout->mark.sequence > std::max(scan.sequence(), snapshot.sequence)) {
    return do_not_match(paths, fmt::format("the readout was made at event {}, but the journal ends "
                                           "with event {}: its end was lost",
                                           readout->mark.sequence, scan.sequence()));
  }
  return {};
}

class Replay {
 public:
  Replay(LoadedStore& store, const std::optional<ReadoutFile>& readout, LoadCheck check,
         std::int64_t last_end)
      : store_(store), readout_(readout), check_(check), last_end_(last_end) {}

  Status apply(std::int64_t sequence, const Event& event) {
    store_.mark.sequence = sequence;
    if (const auto* batch = std::get_if<SampleBatch>(&event)) return learn(*batch);
    if (const auto* more = std::get_if<ContinuedBatch>(&event)) return learn(more->samples);
    const auto* end = std::get_if<EndOfTask>(&event);
    if (end == nullptr) {
      return Status(Code::not_supported,
                    "this version of Engram replays no edits of what was learned. Nothing was "
                    "changed; update Engram.");
    }
    store_.mark.ended = sequence;
    compare(end->digest, fmt::format("the end of a task (event {})", sequence));
    if (sequence != last_end_) return store_.learner.close_task(nullptr);
    if (readout_ && readout_->mark.sequence == sequence) {
      return store_.learner.close_task(readout_->readout);
    }
    ENGRAM_ASSIGN(const Learner::Solution solution, store_.learner.solve(end->lambda));
    return store_.learner.close_task(solution.readout);
  }

  // Float sums depend on the order in which threads add; whole numbers do not.
  void compare(const std::string& stored, const std::string& where) {
    if (check_ != LoadCheck::digests) return;
    if (store_.learner.config().arithmetic != Arithmetic::exact) return;
    // Earlier versions had digests of another kind. The files' checksums hold for those states too.
    if (stored.rfind(Statistics::kDigestKind, 0) != 0) return;
    const std::string found = store_.learner.digest();
    if (found == stored) return;
    store_.findings.push_back(
        fmt::format("At {} the statistics have the digest {}, and {} was stored: they were "
                    "changed, or computed "
                    "wrongly.",
                    where, found, stored));
  }

 private:
  Status learn(const SampleBatch& batch) {
    store_.journal_samples += std::int64_t(batch.size());
    return store_.learner.learn(batch);
  }

  LoadedStore& store_;
  const std::optional<ReadoutFile>& readout_;
  LoadCheck check_;
  std::int64_t last_end_;
};

std::int64_t last_end_of_task(const StoreMark& snapshot, const JournalScan& scan) {
  std::int64_t last = snapshot.ended;
  for (const JournalRecord& record : scan.records) {
    if (record.kind == kEndOfTaskEvent) last = std::max(last, record.sequence);
  }
  return last;
}

Status replay_record(Replay& replay, const JournalRecord& record, const std::string& name) {
  const Result<Event> event = parse_event(record.kind, record.payload);
  const Status status = event.ok() ? replay.apply(record.sequence, event.value()) : event.status();
  if (status.ok()) return {};
  const bool refused = status.code() == Code::invalid_argument;  // by the learner
  return Status(
      refused ? Code::bad_data : status.code(),
      fmt::format("{}: record {} cannot be replayed: {}", name, record.sequence, status.what()));
}

}  // namespace

Result<LoadedStore> load_store(const StorePaths& paths, LoadCheck check) {
  ENGRAM_ASSIGN(const std::optional<ReadoutFile> readout, usable_readout(paths));
  Result<std::vector<std::byte>> journal = read_file(paths.journal, kMaxJournalBytes);
  if (journal.status().code() == Code::not_found) {
    return do_not_match(paths, "the journal is missing, and with it what was learned last");
  }
  if (!journal.ok()) return journal.status();
  ENGRAM_ASSIGN(JournalScan scan, scan_journal(*journal, paths.journal));

  const Result<SnapshotReader> reader = SnapshotReader::open(paths.snapshot);
  if (reader.status().code() == Code::not_found) {
    return do_not_match(paths, "the snapshot is missing");
  }
  if (!reader.ok()) return reader.status();
  ENGRAM_ASSIGN(const StoreMark mark, read_mark(reader.value()));
  ENGRAM_TRY(check_sequences(paths, mark, scan, readout));
  ENGRAM_ASSIGN(Learner learner, Learner::load(reader.value()));
  if (readout && readout->config != learner.config()) {
    return do_not_match(paths, "the readout was made with another config than the snapshot's");
  }
  const std::int64_t last_end = last_end_of_task(mark, scan);
  if (readout && readout->mark.sequence > last_end) {
    return do_not_match(paths, "the readout is of a task that the journal does not know");
  }

  LoadedStore store{.learner = std::move(learner),
                    .mark = mark,
                    .snapshot_sequence = mark.sequence,
                    .journal = std::move(journal).value(),
                    .scan = std::move(scan),
                    .findings = {}};
  Replay replay(store, readout, check, last_end);
  replay.compare(mark.digest, "the snapshot");
  for (const JournalRecord& record : store.scan.records) {
    if (record.sequence <= mark.sequence) continue;  // in the snapshot already
    ENGRAM_TRY(replay_record(replay, record, paths.journal));
  }
  store.readout_is_current = last_end == 0 || (readout && readout->mark.sequence == last_end);
  return store;
}

}  // namespace engram
