#include "engine/adding_up.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/state_file.h"
#include "engine/store.h"
#include "engine/store_load.h"

namespace engram {
namespace {

constexpr std::int64_t kMostSamples = std::int64_t{1} << 53;  // what a snapshot can count

// All that makes hidden units mean the same. How lambda is chosen may differ.
std::string differences(const LearnerConfig& a, const LearnerConfig& b) {
  std::string text;
  const auto compare = [&](const char* what, const auto& one, const auto& other) {
    if (one != other)
      text += fmt::format("{}{} {} and {}", text.empty() ? "" : ", ", what, one, other);
  };
  compare("backbone", a.backbone.substr(0, 12), b.backbone.substr(0, 12));
  compare("features", a.features, b.features);
  compare("hidden units", a.hidden, b.hidden);
  compare("arithmetic", std::string(name(a.arithmetic)), std::string(name(b.arithmetic)));
  compare("weights", std::string(name(a.weights)), std::string(name(b.weights)));
  compare("nonlinearity", std::string(name(a.nonlinearity)), std::string(name(b.nonlinearity)));
  compare("seed", a.seed, b.seed);
  if (a.arithmetic != Arithmetic::exact) return text;
  compare("feature scale", a.feature_scale, b.feature_scale);
  compare("hidden gain", a.hidden_mul, b.hidden_mul);
  compare("largest hidden unit", a.hidden_max, b.hidden_max);
  return text;
}

// The steps of `next`, whose samples have become the newest ones; those that have a row are the very
// last, in their order. What is of no step any more is one together.
void add_steps(const Learner& learner, const AddedState& next, const LearnedSamples& kept,
               History& history) {
  if (kept.size() == 0) return;
  const std::int64_t first = learner.last_id() + 1 - std::int64_t(kept.size());
  history.first_ids.push_back(first);
  for (const Step& step : steps_of(next.history, kept, next.learner.sums_only())) {
    const auto at = std::lower_bound(kept.ids.begin(), kept.ids.end(), step.first_id);
    const std::int64_t id = first + (at - kept.ids.begin());
    if (id != first) history.first_ids.push_back(id);
  }
}

}  // namespace

Result<AddedState> read_added_state(const std::string& path, const std::string& device) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return read_state_file(path);
  if (!Store::exists(path)) {
    return Status(Code::not_found, fmt::format("{}: holds no state. Nothing was changed.", path));
  }
  ENGRAM_ASSIGN(LoadedStore loaded, load_store(StorePaths(path), LoadCheck::none));
  AddedState state{path, std::move(loaded.learner), std::move(loaded.mark),
                   std::move(loaded.history)};
  state.history.audit.push_back(audit_entry(device, audit::kExported, state.mark, state.learner));
  return state;
}

std::vector<std::uint64_t> origins_of(const StoreMark& mark, const History& history) {
  std::vector<std::uint64_t> origins = history.origins;
  origins.push_back(mark.state);
  return origins;
}

Status check_goes_with(const std::string& name, const Learner& learner,
                       const std::vector<std::uint64_t>& origins, const AddedState& next) {
  const std::string differ = differences(learner.config(), next.learner.config());
  if (!differ.empty()) {
    return Status(Code::invalid_argument,
                  fmt::format("{} and {} cannot be merged: {}. Their sums mean different things. "
                              "Nothing was changed.",
                              name, next.name, differ));
  }
  for (const std::uint64_t origin : origins_of(next.mark, next.history)) {
    if (std::find(origins.begin(), origins.end(), origin) == origins.end()) continue;
    return Status(Code::invalid_argument,
                  fmt::format("{} is a copy of a state that is in the merge already, or was merged "
                              "before: what is there of its samples would count twice. Nothing was "
                              "changed. If that merge was undone since, merge with a copy from "
                              "before it, or learn the pictures again.",
                              next.name));
  }
  if (next.learner.samples() > kMostSamples - learner.samples()) {
    return Status(
        Code::invalid_argument,
        fmt::format("{} says that it holds {} samples, which is more than can be counted. "
                    "Nothing was changed.",
                    next.name, next.learner.samples()));
  }
  return {};
}

Status add_up(const std::string& name, Learner& learner, History& history, const AddedState& next,
              std::vector<std::string>& notes) {
  const LearnerConfig &ours = learner.config(), &theirs = next.learner.config();
  if (ours.lambda_rule != theirs.lambda_rule || ours.lambda != theirs.lambda) {
    notes.push_back(
        fmt::format("{} and {} choose lambda differently; the rule of the first ({}) "
                    "goes on.",
                    name, next.name, engram::name(ours.lambda_rule)));
  }
  LearnedSamples kept;  // what takes much memory comes before the first change
  if (ours.keep_features) kept = next.learner.kept_samples();
  kept.batch.rows = {};
  const bool has_steps = learner.samples() > 0 && !history.first_ids.empty() &&
                         (!ours.keep_features || history.first_ids.back() > learner.sums_only());
  // Ids go on, so all steps before samples without a row are behind them.
  if (has_steps && next.learner.samples() > std::int64_t(kept.size())) {
    notes.push_back(fmt::format(
        "Steps learned before this merge can no longer be undone{}",
        ours.keep_features ? "; relabel and forget still work where rows are kept." : "."));
  }
  ENGRAM_TRY(learner.absorb(next.learner));
  if (ours.keep_features) {
    add_steps(learner, next, kept, history);
  } else {
    history.first_ids.clear();  // sums never come apart
  }
  const std::vector<std::uint64_t> origins = origins_of(next.mark, next.history);
  history.origins.insert(history.origins.end(), origins.begin(), origins.end());
  const std::vector<AuditEntry>& trail = next.history.audit;
  history.audit.insert(history.audit.end(), trail.begin(), trail.end());
  return {};
}

void note_sums(const Learner& learner, std::vector<std::string>& notes) {
  if (!learner.has_feature_sums()) {
    notes.push_back(fmt::format("The result has {}.", kWithoutFeatureSums));
  }
  if (learner.config().arithmetic == Arithmetic::floating) {
    notes.push_back("Float sums round: the result depends on the order, in the last digits.");
  } else if (std::string note = learner.rounding_note(); !note.empty()) {
    notes.push_back(std::move(note));
  }
}

}  // namespace engram
