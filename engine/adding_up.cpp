#include "engine/adding_up.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/state_backbone.h"
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
  if (!same_backbone(a.backbone, b.backbone)) {
    const bool alike = a.backbone.substr(0, 12) == b.backbone.substr(0, 12);
    const std::size_t shown = alike ? std::string::npos : 12;  // else these tell them apart
    compare("backbone", a.backbone.substr(0, shown), b.backbone.substr(0, shown));
  }
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

// The samples of the states `origins` have become the newest ones. With all their rows they are one
// step: what came by one merge goes by one undo.
void add_step(const Learner& learner, std::int64_t samples,
              const std::vector<std::uint64_t>& origins, History& history) {
  const std::int64_t last = learner.last_id(), first = last + 1 - samples;
  history.first_ids.push_back(first);
  for (const std::uint64_t origin : origins) history.merged.push_back({origin, first, last});
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
                              "changed. A merge that was undone can be repeated.",
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
  const std::int64_t added = next.learner.samples();
  const bool has_rows =
      ours.keep_features && std::ssize(next.learner.kept_ids()) == added && added > 0;
  const bool has_steps = learner.samples() > 0 && !history.first_ids.empty() &&
                         (!ours.keep_features || history.first_ids.back() > learner.sums_only());
  // Ids go on, so all steps before samples without a row are behind them.
  if (has_steps && added > 0 && !has_rows) {
    notes.push_back(fmt::format(
        "Steps learned before this merge can no longer be undone{}",
        ours.keep_features ? "; relabel and forget still work where rows are kept." : "."));
  }
  ENGRAM_TRY(learner.absorb(next.learner));
  const std::vector<std::uint64_t> origins = origins_of(next.mark, next.history);
  if (has_rows) {
    add_step(learner, added, origins, history);
  } else if (!ours.keep_features) {
    history.first_ids.clear();  // sums never come apart
  }
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
