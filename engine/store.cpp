#include "engine/store.h"

#include <utility>

#include <fmt/format.h>

#include "engine/event.h"
#include "engine/store_impl.h"
#include "kernels/backend.h"
#include "platform/sentence.h"

namespace engram {

Status Store::Impl::refuse_if_broken() const {
  if (journal.usable() && !out_of_step) return {};
  return Status(Code::io_failure,
                fmt::format("{}: an earlier write failed and could not be undone, so this process "
                            "writes nothing more. What was acknowledged is safe; open the state "
                            "again.",
                            paths.directory));
}

Result<SnapshotWriter> Store::Impl::prepare_readout(const Readout& readout, std::int64_t sequence,
                                                    const std::string& digest) {
  ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(paths.readout, *files));
  const StoreMark readout_mark{mark.state, sequence, sequence, digest};
  ENGRAM_TRY(write_readout(writer, readout_mark, learner.config(), readout));
  ENGRAM_TRY(writer.finish());
  return writer;
}

Status Store::Impl::publish_readout(const Readout& readout, std::int64_t sequence,
                                    const std::string& digest) {
  ENGRAM_ASSIGN(SnapshotWriter writer, prepare_readout(readout, sequence, digest));
  return writer.publish();
}

Status Store::Impl::make_room(Store& store, std::size_t payload_bytes) {
  if (!journal.has_room(payload_bytes)) {
    // Compaction has failed until now; space may have been freed meanwhile.
    if (const Status status = store.compact(); !status.ok()) {
      return Status(
          status.code(),
          fmt::format("The journal is full and could not be compacted: {} The state is as "
                      "it was before this write; free space or check the disk.",
                      sentence(status.what())));
    }
    note.clear();
    compact_again_at = 0;
  }
  return {};
}

Status Store::Impl::append(Store& store, const EncodedEvent& event) {
  ENGRAM_TRY(make_room(store, event.payload.size()));
  return journal.append(event.kind, event.payload);
}

void Store::Impl::compact_if_due(Store& store) {
  if (journal.bytes() < compact_again_at ||
      !compaction_due(learner.config(), journal_samples, journal.bytes())) {
    return;
  }
  compact_by_itself(store);
}

void Store::Impl::compact_by_itself(Store& store) {
  // What was asked for is done: a failure here, of memory too, is for later.
  compact_again_at = journal.bytes() + (std::int64_t{64} << 20);
  try {
    const Status status = store.compact();
    note = status.ok() ? "" : fmt::format("The journal could not be compacted: {}", status.what());
    if (status.ok()) compact_again_at = 0;
  } catch (const std::bad_alloc&) {
    note.clear();
  }
}

Status write_snapshot(const StorePaths& paths, const StoreMark& mark, const Learner& learner,
                      const History& history, FileSystem& files) {
  ENGRAM_ASSIGN(SnapshotWriter writer, SnapshotWriter::create(paths.snapshot, files));
  ENGRAM_TRY(write_state(writer, mark, learner, history));
  return writer.commit();
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Status Store::learn(const SampleBatch& batch, StepPart part) {
  if (batch.size() == 0 && batch.rows.empty()) return {};
  ENGRAM_TRY(impl_->refuse_if_broken());
  ENGRAM_TRY(impl_->learner.check(batch));
  if (!impl_->step_is_open) part = StepPart::begins;
  ENGRAM_TRY(impl_->or_restored([&] { return impl_->make_learned(*this, batch, part); }));
  impl_->step_is_open = true;
  impl_->mark.sequence = impl_->journal.sequence();
  impl_->journal_samples += std::int64_t(batch.size());
  impl_->compact_if_due(*this);
  return {};
}

// In the journal and in memory.
Status Store::Impl::make_learned(Store& store, const SampleBatch& batch, StepPart part) {
  ENGRAM_ASSIGN(const EncodedEvent event, encode(batch, part));
  ENGRAM_TRY(append(store, event));
  if (history.first_ids.size() == history.first_ids.capacity()) {  // then its step needs no memory
    history.first_ids.reserve(2 * history.first_ids.size() + 8);
  }
  const std::int64_t first_id = learner.last_id() + 1;
  if (const Status status = learner.learn(batch); !status.ok()) {
    ENGRAM_TRY(journal.take_back());
    return after_failure(status);
  }
  history.learned(first_id, part);
  return {};
}

struct Store::Impl::MadeEnd {
  ReadoutReport report;
  SnapshotWriter readout;  // its file, not yet published
};

// In memory and in the journal.
Result<Store::Impl::MadeEnd> Store::Impl::make_end(Store& store, const MayEnd& may_end) {
  auto solved = learner.solve();
  if (!solved.ok()) return after_failure(solved.status());
  const std::string digest = learner.digest();
  ENGRAM_ASSIGN(SnapshotWriter writer,
                prepare_readout(*solved->readout, mark.sequence + 1, digest));
  MadeEnd made{solved->report, std::move(writer)};
  if (may_end) ENGRAM_TRY(may_end());
  const EncodedEvent event = encode(EndOfTask{solved->report.lambda, digest});
  ENGRAM_TRY(append(store, event));
  if (const Status status = learner.close_task(solved->readout); !status.ok()) {
    ENGRAM_TRY(journal.take_back());
    return after_failure(status);
  }
  return made;
}

Result<ReadoutReport> Store::end_task(const MayEnd& may_end) {
  Impl& impl = *impl_;
  ENGRAM_TRY(impl.refuse_if_broken());
  ENGRAM_ASSIGN(Impl::MadeEnd made,
                impl.or_restored([&] { return impl.make_end(*this, may_end); }));
  impl.mark.sequence = impl.mark.ended = impl.journal.sequence();
  if (const Status status = made.readout.publish(); !status.ok()) {
    return Status(
        status.code(),
        fmt::format("The task has ended and that is recorded, but other programs may still "
                    "see the readout before it: {} Opening the state again for writing "
                    "puts it right.",
                    sentence(status.what())));
  }
  impl.compact_if_due(*this);
  return std::move(made.report);
}

Status Store::compact() {
  Impl& impl = *impl_;
  ENGRAM_TRY(impl.refuse_if_broken());
  StoreMark mark = impl.mark;
  mark.digest = impl.learner.digest();
  // Unless this is durable, the old journal must stay: it holds what the old snapshot lacks.
  History history = impl.history;
  history.drop_lost_steps(impl.learner);
  ENGRAM_TRY(write_snapshot(impl.paths, mark, impl.learner, history, *impl.files));
  ENGRAM_TRY(impl.journal.start_over());
  impl.history = std::move(history);
  impl.snapshot_sequence = mark.sequence;
  impl.snapshot_last_id = impl.learner.last_id();
  impl.journal_samples = 0;
  return {};
}

Status Store::recover(const Status& reason) {
  if (give_up_lost_device(reason).ok()) return reason;
  if (&impl_->learner.kernels() == &chosen_kernels()) {  // it moved when a call of ours failed
    return reason.code() == Code::device_failure ? Status() : reason;
  }
  Status status = impl_->restore(reason);
  return impl_->out_of_step ? status : Status();
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
const StoreMark& Store::mark() const {
  return impl_->mark;
}
const History& Store::history() const {
  return impl_->history;
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
