// An edit of a store: made in memory, solved for, and then written as one record; if that fails, memory
// is read from the disk again.
#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/store_impl.h"
#include "engine/store_load.h"
#include "kernels/backend.h"
#include "platform/sentence.h"

namespace engram {
namespace {

constexpr std::size_t kDigestBytes = 255;  // at most

Outcome& outcome_of(Edit& edit) {
  return std::visit([](auto& one) -> Outcome& { return one.outcome; }, edit);
}

// What it will touch, by the labels of now.
std::vector<ClassInfo> touched(const Edit& edit, const Learner& learner) {
  if (const auto* rename = std::get_if<Rename>(&edit)) {
    for (const ClassInfo& info : learner.classes()) {
      if (info.label == rename->from) return {info};
    }
    return {};
  }
  const auto* unlearn = std::get_if<Unlearn>(&edit);
  const LearnedSamples& samples = unlearn ? unlearn->samples : std::get<Relabel>(edit).samples;
  std::map<std::string, std::int64_t> counts;
  for (const std::string& label : samples.batch.labels) ++counts[label];
  std::vector<ClassInfo> changed;
  for (const auto& [label, count] : counts) changed.push_back({label, count});
  return changed;
}

// The labels of `classes` that are not among `left`.
std::vector<std::string> without_samples(const std::vector<ClassInfo>& classes,
                                         const std::vector<ClassInfo>& left) {
  std::vector<std::string> gone;
  for (const ClassInfo& info : classes) {
    const bool there = std::any_of(left.begin(), left.end(), [&](const ClassInfo& other) {
      return other.label == info.label;
    });
    if (!there) gone.push_back(info.label);
  }
  return gone;
}

// Why the readout that belongs to an edit could not be written, which comes before the edit itself.
Status not_edited(const Status& why) {
  return Status(
      why.code(),
      sentence(why.what()) + " Nothing was changed; free space or check the disk, and try again.");
}

}  // namespace

struct Store::Impl::MadeEdit {
  EditReport report;
  History history;  // after it
  std::optional<Learner::Solution> solution;
  std::optional<SnapshotWriter> readout;  // its file, not yet published
};

Status Store::Impl::restore(Status reason) {
  const Status lost = give_up_lost_device(reason);
  if (!lost.ok() && &learner.kernels() != &chosen_kernels()) reason = lost;
  const bool was_out_of_step = std::exchange(out_of_step, true);  // also if memory runs out here
  Result<LoadedStore> loaded = load_store(paths, LoadCheck::none);
  if (loaded.ok()) {
    learner = std::move(loaded->learner);
    out_of_step = was_out_of_step;
    return reason;
  }
  return Status(
      reason.code(),
      fmt::format("{} What is on the disk is as it was, but could not be read again ({}), "
                  "so this process writes nothing more.",
                  sentence(reason.what()), loaded.status().what()));
}

Status Store::Impl::restore_without_memory() {
  out_of_step = true;  // even these words take some
  Status reason(Code::out_of_memory, "Not enough memory. Nothing was changed.");
  if (journal.sequence() > mark.sequence) ENGRAM_TRY(journal.take_back());
  out_of_step = false;
  return restore(std::move(reason));
}

Status Store::Impl::after_failure(Status reason) {
  const bool lost = !give_up_lost_device(reason).ok();
  const bool moved = lost && &learner.kernels() != &chosen_kernels();
  return moved || learner.is_half_changed() ? restore(reason) : reason;
}

Status Store::Impl::remove_readout() {
  if (files->unlink(paths.readout.c_str()) != 0 && errno != ENOENT) {
    return call_failed(paths.readout, "unlink", errno,
                       "It still answers with what was taken back.");
  }
  return sync_directory(paths.directory, *files);
}

Result<std::optional<Learner::Solution>> Store::Impl::solve_after_edit() {
  const auto before = learner.readout();
  if (before == nullptr || learner.samples() == 0) return std::optional<Learner::Solution>();
  // These rules choose by the samples of a task that ends; none does.
  const LambdaRule rule = learner.config().lambda_rule;
  const bool by_task = splits_task(rule);
  ENGRAM_ASSIGN(Learner::Solution solution,
                learner.solve(by_task ? std::optional(before->lambda) : std::nullopt));
  if (by_task) {
    solution.report.rule = name(rule);
    solution.report.note = "The rule chooses when a task ends; until then lambda stays as it was.";
  }
  return std::optional(std::move(solution));
}

Result<EditReport> Store::Impl::edit(Store& store, Edit edit) {
  ENGRAM_TRY(refuse_if_broken());
  // A compaction later would write what is not journalled yet.
  outcome_of(edit) = {0, std::string(kDigestBytes, '0')};
  ENGRAM_ASSIGN(EncodedEvent event, encode(edit));
  ENGRAM_TRY(make_room(store, event.payload.size()));
  event = {};
  const bool had_readout = learner.readout() != nullptr;
  ENGRAM_ASSIGN(MadeEdit made, or_restored([&] { return make_edit(edit); }));
  mark.sequence = journal.sequence();
  history = std::move(made.history);
  mark.ended = made.solution ? mark.sequence : 0;
  journal_samples += made.report.samples;
  step_is_open = false;
  const Status status = made.readout  ? made.readout->publish()
                        : had_readout ? remove_readout()
                                      : Status();
  if (!status.ok()) {
    return Status(
        status.code(),
        fmt::format("The change is made and recorded, but other programs may still see the "
                    "readout before it: {} Opening the state again for writing puts it "
                    "right.",
                    sentence(status.what())));
  }
  compact_if_due(store);
  return std::move(made.report);
}

Result<Store::Impl::MadeEdit> Store::Impl::make_edit(Edit& edit) {
  MadeEdit made;
  EditReport& report = made.report;
  report.changed = touched(edit, learner);
  for (const ClassInfo& info : report.changed) report.samples += info.samples;
  if (const Status status = apply_edit(learner, edit); !status.ok()) {
    const bool refused =
        status.code() == Code::invalid_argument || status.code() == Code::not_supported;
    return refused ? status : restore(status);
  }
  Result<std::optional<Learner::Solution>> solved = solve_after_edit();
  if (!solved.ok()) return restore(solved.status());
  made.solution = std::move(*solved);
  const std::optional<Learner::Solution>& solution = made.solution;
  Outcome& outcome = outcome_of(edit);
  outcome = {solution ? solution->readout->lambda : 0.0, learner.digest()};
  if (solution) {
    report.readout = solution->report;
    auto prepared = prepare_readout(*solution->readout, mark.sequence + 1, outcome.digest);
    if (!prepared.ok()) return restore(not_edited(prepared.status()));
    made.readout.emplace(std::move(prepared).value());
  }
  made.history = history;
  made.history.taken_back({mark.state, mark.sequence + 1, 0, {}}, learner, outcome.digest);
  report.gone = without_samples(report.changed, learner.classes());
  Result<EncodedEvent> encoded = encode(edit);
  if (!encoded.ok()) return restore(encoded.status());
  if (const Status status = journal.append(encoded->kind, encoded->payload); !status.ok()) {
    return restore(status);
  }
  if (const Status status = learner.adopt(solution ? solution->readout : nullptr); !status.ok()) {
    ENGRAM_TRY(journal.take_back());
    return restore(status);
  }
  return made;
}

}  // namespace engram
