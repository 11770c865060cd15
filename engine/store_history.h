// What a store remembers of its own past: the steps in which samples came, and where their rows are.
//
// Samples are numbered in the order learned, so a step, what one tap or one command taught, is a
// range of ids, and all that is kept of it is the first one. Rows of single samples are in the
// learner, or, where features may not be kept, in the journal since the last snapshot. What a merge
// added is one step, and when none of its samples is left, it never was: it can be repeated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/audit.h"
#include "engine/event.h"
#include "engine/journal.h"
#include "engine/learner.h"
#include "engine/snapshot.h"
#include "platform/status.h"

namespace engram {

struct Step {
  std::int64_t first_id = 0, last_id = 0;  // of the samples that are still there
  std::int64_t samples = 0;
  std::vector<ClassInfo> classes;  // with their samples in this step
  bool is_merge = false;
};

struct StoreMark;

// A state whose samples a merge added, all of them with their rows, under these ids.
struct MergedState {
  std::uint64_t origin = 0;
  std::int64_t first_id = 0, last_id = 0;
  bool operator==(const MergedState&) const = default;
};

struct History {
  std::vector<std::int64_t> first_ids;  // of each step, ascending
  std::vector<std::uint64_t> origins;   // states that were merged into this one
  std::vector<MergedState> merged;      // those of them that can be taken back
  std::vector<AuditEntry> audit;        // oldest first

  void learned(std::int64_t first_id, StepPart part) {
    if (part == StepPart::begins || first_ids.empty()) first_ids.push_back(first_id);
  }
  // Drops the steps that can never be undone: those without a sample that has a row. The last one
  // stays, since it may go on.
  void drop_lost_steps(const Learner& learner);
  // After the edit with the number mark.sequence took samples back: states of which none is left are no
  // origins any more, and the trail says so. `digest`: of the statistics after it.
  void taken_back(const StoreMark& mark, const Learner& learner, const std::string& digest);
  bool operator==(const History&) const = default;
};

// Sections `history`, `merged` and `audit` of a snapshot. Absent in older ones: an empty history.
Status write_history(SnapshotWriter& writer, const History& history);
Result<History> read_history(const SnapshotReader& reader);

// Carries out an event on a learner; the readout is left to the caller.
Status apply_edit(Learner& learner, const Edit& edit);
// The lambda of the readout that an event leaves behind, 0: none at all. Nothing: this kind of
// event leaves the readout as it was.
std::optional<double> readout_after(const JournalRecord& record);

// The samples in a journal that are still learned: of the records behind event `after`, when the
// newest sample had the id `last_id`.
Result<LearnedSamples> samples_in(const JournalScan& scan, std::int64_t after,
                                  std::int64_t last_id);
// The steps of these samples, oldest first. Of the ids up to `sums_only` nobody has the rows: a step
// that began there is not among them, nor is one without samples.
std::vector<Step> steps_of(const History& history, const LearnedSamples& samples,
                           std::int64_t sums_only);

// Those of `all` that `wanted` (id, label) says.
template <class Wanted>
LearnedSamples selected(const LearnedSamples& all, Wanted&& wanted) {
  LearnedSamples some;
  const std::size_t row_bytes = all.size() == 0 ? 0 : all.batch.rows.size() / all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!wanted(all.ids[i], all.batch.labels[i])) continue;
    some.ids.push_back(all.ids[i]);
    some.batch.labels.push_back(all.batch.labels[i]);
    const auto row = all.batch.rows.begin() + std::ptrdiff_t(i * row_bytes);
    some.batch.rows.insert(some.batch.rows.end(), row, row + std::ptrdiff_t(row_bytes));
  }
  return some;
}

}  // namespace engram
