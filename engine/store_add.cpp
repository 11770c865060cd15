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

Result<EditReport> Store::merge(const AddedState& other, const std::string& device) {
  Impl& impl = *impl_;
  Learner& learner = impl.learner;
  ENGRAM_TRY(impl.refuse_if_broken());
  ENGRAM_ASSIGN(const std::string name, device_name(device));
  const std::string& here = impl.paths.directory;
  ENGRAM_TRY(check_goes_with(here, learner, origins_of(impl.mark, impl.history), other));
  if (other.learner.samples() == 0) {
    return Status(
        Code::invalid_argument,
        fmt::format("{}: nothing was learned in this state. Nothing was changed.", other.name));
  }
  EditReport report;
  report.changed = other.learner.classes();
  report.samples = other.learner.samples();

  // In memory; whatever fails from here on, the disk has what was before.
  std::vector<std::string> notes;
  History history = impl.history;
  Status status = add_up(here, learner, history, other, notes);
  if (!status.ok()) return impl.restore(status);
  Result<Learner::Solution> solved = learner.solve();
  if (!solved.ok()) return impl.restore(solved.status());
  status = learner.close_task(solved->readout);
  if (!status.ok()) return impl.restore(status);
  StoreMark mark{impl.mark.state, impl.mark.sequence + 1, impl.mark.sequence + 1, {}};
  history.audit.push_back(audit_entry(name, audit::kMerged, mark, learner));
  mark.digest = history.audit.back().digest;

  // All that needs space, then the renames.
  Result<SnapshotWriter> readout =
      impl.prepare_readout(*solved->readout, mark.sequence, mark.digest);
  if (!readout.ok()) return impl.restore(readout.status());
  Result<SnapshotWriter> snapshot = SnapshotWriter::create(impl.paths.snapshot, *impl.files);
  if (!snapshot.ok()) return impl.restore(snapshot.status());
  status = write_state(*snapshot, mark, learner, history);
  if (status.ok()) status = snapshot->finish();
  if (status.ok()) status = snapshot->publish();
  if (!snapshot->published()) return impl.restore(status);

  impl.mark = mark;
  impl.history = std::move(history);
  impl.snapshot_sequence = mark.sequence;
  impl.snapshot_last_id = learner.last_id();
  impl.journal_samples = 0;
  impl.step_is_open = false;
  // Until the snapshot is sure to stay, the old journal must too; and behind it, a record would get a
  // number that the snapshot covers.
  if (status.ok()) status = impl.journal.start_over(mark.sequence);
  if (!status.ok()) {
    impl.out_of_step = true;
    return made_but(status, "this process writes nothing more");
  }
  status = readout->publish();
  if (!status.ok()) return made_but(status, "other programs may still see the readout before it");
  impl.note.clear();
  impl.compact_again_at = 0;
  report.readout = solved->report;
  note_sums(learner, notes);
  for (const std::string& note : notes) report.note += (report.note.empty() ? "" : " ") + note;
  return report;
}

}  // namespace engram
