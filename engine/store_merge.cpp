#include "engine/store_merge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/store.h"
#include "engine/store_load.h"

namespace engram {
namespace {

// One side of what is added up.
struct Part {
  std::string name;
  LoadedStore state;
};

Result<Part> load(const std::string& directory) {
  if (!Store::exists(directory)) {
    return Status(Code::not_found, fmt::format("{}: holds no state. Nothing was made.", directory));
  }
  ENGRAM_ASSIGN(LoadedStore state, load_store(StorePaths(directory), LoadCheck::none));
  return Part{directory, std::move(state)};
}

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

std::vector<std::uint64_t> origins_of(const LoadedStore& state) {
  std::vector<std::uint64_t> origins = state.history.origins;
  origins.push_back(state.mark.state);
  return origins;
}

Status check_goes_with(const Part& all, const std::vector<std::uint64_t>& merged,
                       const Part& next) {
  const std::string differ = differences(all.state.learner.config(), next.state.learner.config());
  if (!differ.empty()) {
    return Status(Code::invalid_argument,
                  fmt::format("{} and {} cannot be merged: {}. Their sums mean different things. "
                              "Nothing was made.",
                              all.name, next.name, differ));
  }
  for (const std::uint64_t origin : origins_of(next.state)) {
    if (std::find(merged.begin(), merged.end(), origin) == merged.end()) continue;
    return Status(Code::invalid_argument,
                  fmt::format("{} is a copy of a state that is in the merge already, or was merged "
                              "before: its samples would count twice. Nothing was made.",
                              next.name));
  }
  return {};
}

// The samples of `next` behind those of `all`, with their steps.
Status add(Part& all, const Part& next, std::vector<std::string>& notes) {
  const LearnerConfig &ours = all.state.learner.config(), &theirs = next.state.learner.config();
  if (ours.lambda_rule != theirs.lambda_rule || ours.lambda != theirs.lambda) {
    notes.push_back(
        fmt::format("{} and {} choose lambda differently; the rule of the first ({}) "
                    "goes on.",
                    all.name, next.name, name(ours.lambda_rule)));
  }
  std::int64_t first_id = all.state.learner.last_id() + 1;
  ENGRAM_TRY(all.state.learner.absorb(next.state.learner));
  if (next.state.learner.form() == Form::dense) return {};
  ENGRAM_ASSIGN(const std::vector<Step> steps, steps_of(next.state));
  for (const Step& step : steps) {
    all.state.history.first_ids.push_back(first_id);
    first_id += step.samples;
  }
  return {};
}

}  // namespace

Result<MergeReport> merge_stores(std::span<const std::string> inputs, const std::string& output,
                                 FileSystem& files) {
  if (inputs.size() < 2) {
    return Status(Code::invalid_argument, "Merging takes at least two states. Nothing was made.");
  }
  if (Store::exists(output)) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: holds a state already. Nothing was changed; choose another "
                              "directory for the result.",
                              output));
  }
  MergeReport report;
  ENGRAM_ASSIGN(Part all, load(inputs.front()));
  std::vector<std::uint64_t> merged = origins_of(all.state);
  for (const std::string& input : inputs.subspan(1)) {
    ENGRAM_ASSIGN(Part next, load(input));
    ENGRAM_TRY(check_goes_with(all, merged, next));
    const std::vector<std::uint64_t> origins = origins_of(next.state);
    merged.insert(merged.end(), origins.begin(), origins.end());
    // Samples go into sums; sums never come apart.
    if (next.state.learner.form() == Form::dense && all.state.learner.form() == Form::factored) {
      std::swap(all, next);
    }
    ENGRAM_TRY(add(all, next, report.notes));
  }
  Learner& learner = all.state.learner;
  if (learner.samples() == 0) {
    return Status(Code::invalid_argument, "Nothing was learned in any of them. Nothing was made.");
  }
  ENGRAM_ASSIGN(report.readout, learner.end_task());
  History history = std::move(all.state.history);
  history.origins = std::move(merged);
  if (learner.form() == Form::dense) history.first_ids.clear();
  report.samples = learner.samples();
  report.classes = learner.classes();
  report.digest = learner.digest();
  report.form = learner.form();
  if (!learner.has_feature_sums()) {
    report.notes.push_back(fmt::format("The result has {}.", kWithoutFeatureSums));
  }
  if (learner.config().arithmetic == Arithmetic::floating) {
    report.notes.push_back(
        "Float sums round: the result depends on the order, in the last digits.");
  } else if (learner.samples() > learner.exact_until()) {
    report.notes.push_back(
        fmt::format("A sum has reached 2^24 and may have rounded; all was exact "
                    "until {} samples.",
                    learner.exact_until()));
  }
  ENGRAM_ASSIGN(const Store store,
                Store::create(output, std::move(learner), std::move(history), files));
  return report;
}

}  // namespace engram
