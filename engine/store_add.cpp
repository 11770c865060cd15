// Store::merge: made in memory, solved for, then written as a snapshot: the rename is the event.
#include <utility>

#include <fmt/format.h>

#include "engine/adding_up.h"
#include "engine/state_file.h"
#include "engine/store_impl.h"
#include "platform/sentence.h"

namespace engram {
namespace {

// Behind the new snapshot: what was asked for is done.
Status made_but(const Status& status, const char* what) {
  return Status(status.code(), fmt::format("The states are merged, but {}: {} Opening the state "
                                           "again for writing puts it right.",
                                           what, sentence(status.what())));
}

}  // namespace

struct Store::Impl::MadeMerge {
  EditReport report;
  StoreMark mark;
  History history;
  SnapshotWriter readout, snapshot;
};

Result<EditReport> Store::merge(const AddedState& other, const std::string& device) {
  Impl& impl = *impl_;
  ENGRAM_TRY(impl.refuse_if_broken());
  ENGRAM_ASSIGN(const std::string name, device_name(device));
  ENGRAM_TRY(check_goes_with(impl.paths.directory, impl.learner,
                             origins_of(impl.mark, impl.history), other));
  if (other.learner.samples() == 0) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: nothing was learned in this state. Nothing was changed.", other.name));
  }
  ENGRAM_ASSIGN(Impl::MadeMerge made,
                impl.or_restored([&] { return impl.make_merge(other, name); }));

  // All that needs space is there; now the renames.
  impl.out_of_step = true;  // until it is known which of the two the disk has
  Status status = made.snapshot.publish();
  if (!made.snapshot.published()) {
    impl.out_of_step = false;
    return impl.restore(status);
  }
  impl.mark = std::move(made.mark);
  impl.history = std::move(made.history);
  impl.snapshot_sequence = impl.mark.sequence;
  impl.snapshot_last_id = impl.learner.last_id();
  impl.journal_samples = 0;
  impl.step_is_open = false;
  // Until the snapshot is sure to stay, the old journal must too; and behind it, a record would get a
  // number that the snapshot covers.
  if (status.ok()) status = impl.journal.start_over(impl.mark.sequence);
  if (!status.ok()) return made_but(status, "this process writes nothing more");
  impl.out_of_step = false;
  status = made.readout.publish();
  if (!status.ok()) return made_but(status, "other programs may still see the readout before it");
  impl.note.clear();
  impl.compact_again_at = 0;
  return std::move(made.report);
}

// Whatever fails in it, the disk has what was before.
Result<Store::Impl::MadeMerge> Store::Impl::make_merge(const AddedState& other,
                                                       const std::string& device) {
  EditReport report;
  report.changed = other.learner.classes();
  report.samples = other.learner.samples();
  std::vector<std::string> notes;
  History added = history;
  Status status = add_up(paths.directory, learner, added, other, notes);
  if (!status.ok()) return restore(status);
  Result<Learner::Solution> solved = learner.solve();
  if (!solved.ok()) return restore(solved.status());
  status = learner.close_task(solved->readout);
  if (!status.ok()) return restore(status);
  report.readout = solved->report;
  note_sums(learner, notes);
  for (const std::string& each : notes) report.note += (report.note.empty() ? "" : " ") + each;
  StoreMark next{mark.state, mark.sequence + 1, mark.sequence + 1, {}};
  added.audit.push_back(audit_entry(device, audit::kMerged, next, learner));
  next.digest = added.audit.back().digest;

  Result<SnapshotWriter> readout = prepare_readout(*solved->readout, next.sequence, next.digest);
  if (!readout.ok()) return restore(readout.status());
  Result<SnapshotWriter> snapshot = SnapshotWriter::create(paths.snapshot, *files);
  if (!snapshot.ok()) return restore(snapshot.status());
  status = write_state(*snapshot, next, learner, added);
  if (status.ok()) status = snapshot->finish();
  if (!status.ok()) return restore(status);
  return MadeMerge{std::move(report), std::move(next), std::move(added), std::move(readout).value(),
                   std::move(snapshot).value()};
}

}  // namespace engram
