// Store: undo, forget, relabel, rename. An edit is made in memory, solved for, and then written as one
// record; if that fails, memory is read from the disk again.
#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/nearest_name.h"
#include "engine/store_impl.h"
#include "engine/store_load.h"
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

bool has_class(const std::vector<ClassInfo>& classes, const std::string& label) {
  return std::any_of(classes.begin(), classes.end(),
                     [&](const ClassInfo& info) { return info.label == label; });
}

Status no_such_class(const Learner& learner, const std::string& label) {
  std::vector<std::string> names;
  for (const ClassInfo& info : learner.classes()) names.push_back(info.label);
  if (names.empty()) {
    return Status(
        Code::not_found,
        fmt::format("There is no class {}: nothing was learned yet. Nothing was changed.", label));
  }
  const std::string nearest = nearest_name(label, names);
  return Status(Code::not_found,
                fmt::format("There is no class {}.{} Nothing was changed.", label,
                            nearest.empty() ? "" : fmt::format(" Did you mean {}?", nearest)));
}

// Why samples that are in the sums cannot be told apart any more, and what to do.
Status not_at_hand(const LearnerConfig& config, const std::string& what) {
  const char* why = config.keep_features
                        ? "there are so many that only their sums are kept"
                        : "this state keeps sums only, and no features (--keep-features no)";
  return Status(
      Code::not_supported,
      fmt::format("{}: {}, and what came before the last snapshot is in the sums alone. Nothing "
                  "was changed. Go back to a copy of the state, or learn anew without them.",
                  what, why));
}

}  // namespace

Result<LearnedSamples> Store::Impl::samples_at_hand() const {
  if (learner.form() == Form::factored) return learner.kept_samples();
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(paths.journal, kMaxJournalBytes));
  ENGRAM_ASSIGN(const JournalScan scan, scan_journal(bytes, paths.journal));
  return samples_in(scan, snapshot_sequence, snapshot_last_id);
}

Status Store::Impl::restore(Status reason) {
  Result<LoadedStore> loaded = load_store(paths, LoadCheck::none);
  if (loaded.ok()) {
    learner = std::move(loaded->learner);
    return reason;
  }
  out_of_step = true;
  return Status(
      reason.code(),
      fmt::format("{} What is on the disk is as it was, but could not be read again ({}), "
                  "so this process writes nothing more.",
                  sentence(reason.what()), loaded.status().what()));
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
  const bool by_task = rule == LambdaRule::paper || rule == LambdaRule::code;
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

  EditReport report;
  report.changed = touched(edit, learner);
  for (const ClassInfo& info : report.changed) report.samples += info.samples;
  const bool had_readout = learner.readout() != nullptr;
  if (const Status status = apply_edit(learner, edit); !status.ok()) {
    const bool refused =
        status.code() == Code::invalid_argument || status.code() == Code::not_supported;
    return refused ? status : restore(status);
  }
  Result<std::optional<Learner::Solution>> solved = solve_after_edit();
  if (!solved.ok()) return restore(solved.status());
  const std::optional<Learner::Solution>& solution = *solved;
  Outcome& outcome = outcome_of(edit);
  outcome = {solution ? solution->readout->lambda : 0.0, learner.digest()};
  std::optional<SnapshotWriter> writer;
  if (solution) {
    auto prepared = prepare_readout(*solution->readout, mark.sequence + 1, outcome.digest);
    if (!prepared.ok()) return restore(prepared.status());
    writer.emplace(std::move(prepared).value());
  }
  Result<EncodedEvent> encoded = encode(edit);
  if (!encoded.ok()) return restore(encoded.status());
  if (const Status status = journal.append(encoded->kind, encoded->payload); !status.ok()) {
    return restore(status);
  }
  if (const Status status = learner.adopt(solution ? solution->readout : nullptr); !status.ok()) {
    ENGRAM_TRY(journal.take_back());
    return restore(status);
  }
  mark.sequence = journal.sequence();
  mark.ended = solution ? mark.sequence : 0;
  journal_samples += report.samples;
  step_is_open = false;
  if (solution) report.readout = solution->report;
  const std::vector<ClassInfo> left = learner.classes();
  for (const ClassInfo& info : report.changed) {
    if (!has_class(left, info.label)) report.gone.push_back(info.label);
  }
  const Status status = writer ? writer->publish() : had_readout ? remove_readout() : Status();
  if (!status.ok()) {
    return Status(
        status.code(),
        fmt::format("The change is made and recorded, but other programs may still see the "
                    "readout before it: {} Opening the state again for writing puts it "
                    "right.",
                    sentence(status.what())));
  }
  compact_if_due(store);
  return report;
}

Result<std::vector<Step>> Store::steps() const {
  ENGRAM_ASSIGN(const LearnedSamples samples, impl_->samples_at_hand());
  return steps_of(impl_->history, samples, impl_->sums_only());
}

Result<EditReport> Store::undo(int count) {
  Impl& impl = *impl_;
  ENGRAM_ASSIGN(const LearnedSamples samples, impl.samples_at_hand());
  std::vector<Step> steps = steps_of(impl.history, samples, impl.sums_only());
  ENGRAM_TRY(impl.check_steps(count, steps, samples));
  steps.erase(steps.begin(), steps.end() - count);
  const std::int64_t from = steps.front().first_id;
  Unlearn edit;
  edit.samples = selected(samples, [&](std::int64_t id, const std::string&) { return id >= from; });
  ENGRAM_ASSIGN(EditReport report, impl.edit(*this, std::move(edit)));
  std::reverse(steps.begin(), steps.end());
  report.steps = std::move(steps);
  return report;
}

Status Store::Impl::check_steps(int count, const std::vector<Step>& steps,
                                const LearnedSamples& samples) const {
  if (count < 1) {
    return Status(Code::invalid_argument,
                  fmt::format("{} steps cannot be meant; at least 1. Nothing was changed.", count));
  }
  if (std::size_t(count) <= steps.size()) return {};
  if (learner.samples() == 0) {
    return Status(Code::invalid_argument, "Nothing is learned, so there is no step to go back to.");
  }
  const bool all = std::int64_t(samples.size()) == learner.samples();
  const std::string found = steps.size() == 1 ? "1 step" : fmt::format("{} steps", steps.size());
  if (all) {
    return Status(Code::invalid_argument,
                  fmt::format("There are only {}: {} would go back past the beginning. Nothing was "
                              "changed.",
                              found, count));
  }
  return not_at_hand(learner.config(),
                     fmt::format("Of the last {} steps {} can be taken back", count,
                                 steps.empty() ? "none" : "only " + found));
}

Result<EditReport> Store::forget(const std::string& label) {
  Impl& impl = *impl_;
  const std::vector<ClassInfo> classes = impl.learner.classes();
  const auto known = std::find_if(classes.begin(), classes.end(),
                                  [&](const ClassInfo& info) { return info.label == label; });
  if (known == classes.end()) return no_such_class(impl.learner, label);
  ENGRAM_ASSIGN(const LearnedSamples samples, impl.samples_at_hand());
  Unlearn edit;
  edit.samples =
      selected(samples, [&](std::int64_t, const std::string& its) { return its == label; });
  if (std::int64_t(edit.samples.size()) < known->samples) {
    return not_at_hand(
        impl.learner.config(),
        fmt::format("Of the {} samples of {} only {} can be told apart from the rest",
                    known->samples, label, edit.samples.size()));
  }
  ENGRAM_ASSIGN(EditReport report, impl.edit(*this, std::move(edit)));
  if (const Status status = compact(); !status.ok()) {
    report.note = fmt::format(
        "It is forgotten, but bytes of it stay in the journal until the next "
        "compaction: {}",
        status.what());
  }
  return report;
}

Result<EditReport> Store::relabel(std::vector<std::int64_t> ids, const std::string& label) {
  Impl& impl = *impl_;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ENGRAM_ASSIGN(const LearnedSamples samples, impl.samples_at_hand());
  for (const std::int64_t id : ids) {
    if (std::binary_search(samples.ids.begin(), samples.ids.end(), id)) continue;
    const bool older = id >= 1 && id <= impl.snapshot_last_id &&
                       std::int64_t(samples.size()) < impl.learner.samples();
    if (older) {
      return not_at_hand(impl.learner.config(),
                         fmt::format("The sample {} cannot be told apart from the rest", id));
    }
    return Status(Code::not_found,
                  fmt::format("There is no sample {}. Nothing was changed; `engram history` lists "
                              "them.",
                              id));
  }
  Relabel edit;
  edit.label = label;
  edit.samples = selected(samples, [&](std::int64_t id, const std::string& its) {
    return its != label && std::binary_search(ids.begin(), ids.end(), id);
  });
  if (edit.samples.size() == 0) {
    return Status(Code::invalid_argument,
                  fmt::format("All of them are called {} already. Nothing was changed.", label));
  }
  return impl.edit(*this, std::move(edit));
}

Result<EditReport> Store::relabel_last(int count, const std::string& label) {
  ENGRAM_ASSIGN(const LearnedSamples samples, impl_->samples_at_hand());
  const std::vector<Step> steps = steps_of(impl_->history, samples, impl_->sums_only());
  ENGRAM_TRY(impl_->check_steps(count, steps, samples));
  const std::int64_t from = steps[steps.size() - std::size_t(count)].first_id;
  const auto first = std::lower_bound(samples.ids.begin(), samples.ids.end(), from);
  ENGRAM_ASSIGN(EditReport report, relabel({first, samples.ids.end()}, label));
  report.steps.assign(steps.rbegin(), steps.rbegin() + count);
  return report;
}

Result<EditReport> Store::rename(const std::string& from, const std::string& to) {
  if (!has_class(impl_->learner.classes(), from)) return no_such_class(impl_->learner, from);
  Rename edit;
  edit.from = from;
  edit.to = to;
  return impl_->edit(*this, std::move(edit));
}

}  // namespace engram
