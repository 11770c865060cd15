// Store: undo, forget, relabel, rename: which samples are meant, and whether they are still at hand.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/label.h"
#include "engine/nearest_name.h"
#include "engine/store_impl.h"
#include "platform/sentence.h"

namespace engram {
namespace {

bool has_class(const std::vector<ClassInfo>& classes, const std::string& label) {
  return std::any_of(classes.begin(), classes.end(),
                     [&](const ClassInfo& info) { return info.label == label; });
}

Status no_such_class(const Learner& learner, const std::string& label) {
  const std::vector<std::string> names = labels_of(learner.classes());
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

// A class that is there, or what may be one.
Status check_target_label(const Learner& learner, const std::string& label) {
  if (has_class(learner.classes(), label)) return {};
  const Status status = check_new_label(label);
  if (status.ok()) return status;
  return Status(status.code(), sentence(status.what()) + " Nothing was changed.");
}

// Why samples that are in the sums cannot be told apart any more, and what to do.
Status not_at_hand(const LearnerConfig& config, const std::string& what) {
  const char* why = config.keep_features
                        ? "the others came from a state that has sums only (made with "
                          "--keep-features no, or by an earlier version)"
                        : "this state keeps sums only, and no features (--keep-features no), and "
                          "what came before the last snapshot is in the sums alone";
  return Status(
      Code::not_supported,
      fmt::format("{}: {}. Nothing was changed. Go back to a copy of the state, or learn anew "
                  "without them.",
                  what, why));
}

}  // namespace

Result<LearnedSamples> Store::Impl::samples_at_hand() const {
  if (learner.config().keep_features) return learner.kept_samples();
  ENGRAM_ASSIGN(const std::vector<std::byte> bytes, read_file(paths.journal, kMaxJournalBytes));
  ENGRAM_ASSIGN(const JournalScan scan, scan_journal(bytes, paths.journal));
  return samples_in(scan, snapshot_sequence, snapshot_last_id);
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
  Result<EditReport> edited = impl.edit(*this, std::move(edit));
  if (!edited.ok() && has_class(impl.learner.classes(), label)) return edited.status();
  // Also if only the readout file is not in place yet: it is forgotten, and its bytes must go.
  const Status compacted = compact();
  if (!edited.ok()) return edited.status();
  EditReport report = std::move(edited).value();
  if (!compacted.ok()) {
    report.note = fmt::format(
        "It is forgotten, but bytes of it stay in the journal until the next "
        "compaction: {}",
        compacted.what());
  }
  return report;
}

Result<EditReport> Store::relabel(std::vector<std::int64_t> ids, const std::string& label) {
  Impl& impl = *impl_;
  ENGRAM_TRY(check_target_label(impl.learner, label));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ENGRAM_ASSIGN(const LearnedSamples samples, impl.samples_at_hand());
  for (const std::int64_t id : ids) {
    if (std::binary_search(samples.ids.begin(), samples.ids.end(), id)) continue;
    const bool older =
        id >= 1 && id <= impl.sums_only() && std::int64_t(samples.size()) < impl.learner.samples();
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
  ENGRAM_TRY(check_target_label(impl_->learner, to));
  Rename edit;
  edit.from = from;
  edit.to = to;
  return impl_->edit(*this, std::move(edit));
}

}  // namespace engram
