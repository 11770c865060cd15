#include "engine/store_load.h"

#include <unistd.h>

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

// Which event the current readout is of.
struct LastReadout {
  std::int64_t sequence = 0;  // of the last event that left a readout, or left none
  bool exists = false;
};

LastReadout last_readout(const StoreMark& snapshot, const JournalScan& scan) {
  LastReadout last{snapshot.ended > 0 ? snapshot.ended : snapshot.sequence, snapshot.ended > 0};
  for (const JournalRecord& record : scan.records) {
    if (record.sequence <= snapshot.sequence) continue;
    if (const auto lambda = readout_after(record)) last = {record.sequence, *lambda != 0};
  }
  return last;
}

class Replay {
 public:
  Replay(LoadedStore& store, const std::optional<ReadoutFile>& readout, LoadCheck check,
         const LastReadout& last)
      : store_(store), readout_(readout), check_(check), last_(last) {}

  Status apply(std::int64_t sequence, const Event& event) {
    store_.mark.sequence = sequence;
    return std::visit([&](const auto& one) { return apply(one); }, event);
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
  Status apply(const SampleBatch& batch, StepPart part = StepPart::begins) {
    store_.journal_samples += std::int64_t(batch.size());
    const std::int64_t first_id = store_.learner.last_id() + 1;
    ENGRAM_TRY(store_.learner.learn(batch));
    store_.history.learned(first_id, part);
    return {};
  }
  Status apply(const ContinuedBatch& batch) { return apply(batch.samples, StepPart::continues); }
  Status apply(const EndOfTask& end) {
    compare(end.digest, fmt::format("the end of a task (event {})", store_.mark.sequence));
    store_.mark.ended = store_.mark.sequence;
    ENGRAM_ASSIGN(const auto readout, readout_of(end.lambda));
    return store_.learner.close_task(readout);
  }
  Status apply(const Unlearn& edit) { return apply_edit_of(edit, edit.samples.size()); }
  Status apply(const Relabel& edit) { return apply_edit_of(edit, edit.samples.size()); }
  Status apply(const Rename& edit) { return apply_edit_of(edit, 0); }

  template <class Kind>
  Status apply_edit_of(const Kind& edit, std::size_t samples) {
    store_.journal_samples += std::int64_t(samples);
    ENGRAM_TRY(apply_edit(store_.learner, edit));
    compare(edit.outcome.digest, fmt::format("an edit (event {})", store_.mark.sequence));
    store_.history.taken_back(store_.mark, store_.learner, edit.outcome.digest);
    store_.mark.ended = edit.outcome.lambda != 0 ? store_.mark.sequence : 0;
    if (edit.outcome.lambda == 0) return store_.learner.adopt(nullptr);
    ENGRAM_ASSIGN(const auto readout, readout_of(edit.outcome.lambda));
    return readout ? store_.learner.adopt(readout) : Status();
  }

  // Null: a later event replaces it.
  Result<std::shared_ptr<const Readout>> readout_of(double lambda) {
    const std::int64_t sequence = store_.mark.sequence;
    if (sequence != last_.sequence) return std::shared_ptr<const Readout>();
    if (readout_ && readout_->mark.sequence == sequence) return readout_->readout;
    ENGRAM_ASSIGN(const Learner::Solution solution, store_.learner.solve(lambda));
    return solution.readout;
  }

  LoadedStore& store_;
  const std::optional<ReadoutFile>& readout_;
  LoadCheck check_;
  LastReadout last_;
};

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
  const LastReadout last = last_readout(mark, scan);
  if (readout && readout->mark.sequence > last.sequence) {
    return do_not_match(paths, "the readout is of a task that the journal does not know");
  }
  ENGRAM_ASSIGN(History history, read_history(reader.value()));

  const std::int64_t last_id = learner.last_id();
  LoadedStore store{.learner = std::move(learner),
                    .mark = mark,
                    .snapshot_sequence = mark.sequence,
                    .snapshot_last_id = last_id,
                    .history = std::move(history),
                    .journal = std::move(journal).value(),
                    .scan = std::move(scan),
                    .findings = {}};
  Replay replay(store, readout, check, last);
  replay.compare(mark.digest, "the snapshot");
  for (const JournalRecord& record : store.scan.records) {
    if (record.sequence <= mark.sequence) continue;  // in the snapshot already
    ENGRAM_TRY(replay_record(replay, record, paths.journal));
  }
  store.readout_is_current = last.exists ? readout && readout->mark.sequence == last.sequence
                                         : ::access(paths.readout.c_str(), F_OK) != 0;
  return store;
}

Result<LearnedSamples> samples_at_hand(const LoadedStore& store) {
  if (store.learner.config().keep_features) return store.learner.kept_samples();
  return samples_in(store.scan, store.snapshot_sequence, store.snapshot_last_id);
}

Result<std::vector<Step>> steps_of(const LoadedStore& store) {
  ENGRAM_ASSIGN(const LearnedSamples samples, samples_at_hand(store));
  const bool kept = store.learner.config().keep_features;
  return steps_of(store.history, samples,
                  kept ? store.learner.sums_only() : store.snapshot_last_id);
}

}  // namespace engram
