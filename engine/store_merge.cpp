#include "engine/store_merge.h"

#include <utility>

#include <fmt/format.h>

#include "engine/adding_up.h"
#include "engine/store.h"

namespace engram {

Result<MergeReport> merge_stores(std::span<const std::string> inputs, const std::string& output,
                                 FileSystem& files, const std::string& device) {
  if (inputs.size() < 2) {
    return Status(Code::invalid_argument, "Merging takes at least two states. Nothing was made.");
  }
  if (Store::exists(output)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: holds a state already. Nothing was changed; choose another "
                              "directory for the result.",
                              output));
  }
  ENGRAM_ASSIGN(const std::string name, device_name(device));
  MergeReport report;
  ENGRAM_ASSIGN(AddedState all, read_added_state(inputs.front(), name));
  Learner& learner = all.learner;
  // The result is a new state: the first is one of its origins too.
  all.history.origins = origins_of(all.mark, all.history);
  if (!learner.config().keep_features) all.history.first_ids.clear();  // the journal stays behind
  for (const std::string& input : inputs.subspan(1)) {
    ENGRAM_ASSIGN(const AddedState next, read_added_state(input, name));
    ENGRAM_TRY(check_goes_with(all.name, learner, all.history.origins, next));
    ENGRAM_TRY(add_up(all.name, learner, all.history, next, report.notes));
  }
  if (learner.samples() == 0) {
    return Status(Code::invalid_argument, "Nothing was learned in any of them. Nothing was made.");
  }
  ENGRAM_ASSIGN(report.readout, learner.end_task());
  report.samples = learner.samples();
  report.classes = learner.classes();
  report.digest = learner.digest();
  report.form = learner.form();
  note_sums(learner, report.notes);
  ENGRAM_ASSIGN(const Store store, Store::create(output, std::move(learner), std::move(all.history),
                                                 {name, audit::kMerged}, files));
  return report;
}

}  // namespace engram
