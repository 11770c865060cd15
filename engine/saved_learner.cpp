#include "engine/saved_learner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/byte_io.h"
#include "engine/confidence_io.h"
#include "engine/label.h"
#include "engine/lambda_range.h"
#include "engine/projection.h"
#include "engine/saved_sections.h"

namespace engram {
namespace {

using Json = nlohmann::json;

bool parse_progress(std::span<const std::byte> section, SavedProgress& progress) {
  const auto* text = reinterpret_cast<const char*>(section.data());
  const Json json = Json::parse(text, text + section.size(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto whole = [&](const char* field, std::int64_t& value) {
    const auto found = json.find(field);
    if (found == json.end() || !found->is_number_integer()) return false;
    value = found->get<std::int64_t>();
    return value >= 0;
  };
  const auto form = json.find("form");
  if (form != json.end()) {
    if (*form != name(Form::dense) && *form != name(Form::factored)) return false;
    if (*form == name(Form::factored)) progress.form = Form::factored;
    if (!whole("next_id", progress.next_id) || !whole("closed_ids", progress.closed_ids) ||
        progress.closed_ids >= progress.next_id) {
      return false;
    }
  }
  if (json.contains("sums_only") && !whole("sums_only", progress.sums_only)) return false;
  const auto lambda = json.find("readout_lambda");
  if (lambda == json.end() || !lambda->is_number()) return false;
  progress.readout_lambda = lambda->get<double>();
  return whole("tasks", progress.tasks) && whole("task_samples", progress.task_samples) &&
         whole("exact_until", progress.exact_until) &&
         whole("readout_classes", progress.readout_classes) &&
         whole("readout_samples", progress.readout_samples) && progress.tasks <= INT32_MAX;
}

// Labels unique, counts that can be added up.
Result<std::vector<ClassInfo>> parse_classes(const SnapshotReader& reader) {
  constexpr std::int64_t kMostSamples = std::int64_t{1} << 53;
  ENGRAM_ASSIGN(const auto section, reader.section("classes"));
  std::vector<ClassInfo> classes;
  std::unordered_set<std::string> seen;
  std::int64_t samples = 0;
  ByteReader bytes(section);
  while (bytes.left() > 0) {
    ClassInfo info;
    info.label = as_text(bytes.take_bytes(bytes.take<std::uint32_t>()));
    info.samples = bytes.take<std::int64_t>();
    if (bytes.failed() || info.samples < 0 || info.samples > kMostSamples - samples ||
        !check_label(info.label).ok()) {
      return damaged(reader, "its list of classes makes no sense");
    }
    if (!seen.insert(info.label).second) {
      return damaged(reader, "one of its classes is there twice");
    }
    samples += info.samples;
    classes.push_back(std::move(info));
  }
  return classes;
}

// Sums that exact arithmetic can have reached: of whole numbers -127..127, one for each sample.
bool reachable(std::span<const std::byte> doubles, const std::vector<ClassInfo>& classes) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  ByteReader bytes(doubles);
  const std::size_t width = doubles.size() / sizeof(double) / classes.size();
  for (const ClassInfo& info : classes) {
    const double largest = std::min(kExact, 127.0 * double(info.samples));
    for (std::size_t l = 0; l < width; ++l) {
      const auto value = bytes.take<double>();
      if (std::fabs(value) > largest || value != std::trunc(value)) return false;
    }
  }
  return true;
}

// Quantised features are -127..127, float features are finite.
bool only_features(const LearnerConfig& config, std::span<const std::byte> rows) {
  if (config.arithmetic == Arithmetic::floating) return all_finite(rows);
  return std::find(rows.begin(), rows.end(), std::byte{0x80}) == rows.end();
}

// Rows beside the sums: of all samples, or of all but some up to the one named by sums_only. States of
// earlier versions have none.
Status parse_rows(const SnapshotReader& reader, SavedLearner& saved) {
  SavedProgress& progress = saved.progress;
  if (!saved.config.keep_features) {
    return reader.has("kept_rows")
               ? damaged(reader, "it keeps samples although its config forbids it")
               : Status();
  }
  if (!reader.has("kept_rows")) {
    progress.sums_only = progress.next_id - 1;
    return {};
  }
  ENGRAM_ASSIGN(saved.kept, samples_of(reader, "kept_rows", "kept_classes",
                                       Projection::row_bytes(saved.config), saved.classes.size()));
  ENGRAM_ASSIGN(saved.kept_ids,
                ids_of(reader, "kept_ids", saved.kept.classes.size(), 0, progress.next_id));
  std::vector<std::int64_t> without = counts_of(saved.classes);
  for (const std::int32_t index : saved.kept.classes) --without[std::size_t(index)];
  progress.sums_only = std::max<std::int64_t>(progress.sums_only, 0);
  std::int64_t most = progress.sums_only;
  const bool fits = std::all_of(without.begin(), without.end(), [&](std::int64_t count) {
    most -= count;
    return count >= 0 && most >= 0;
  });
  if (!fits || progress.sums_only >= progress.next_id) {
    return damaged(reader, "its classes have another number of samples than it keeps");
  }
  if (!only_features(saved.config, saved.kept.rows)) {
    return damaged(reader, "its samples hold values that no feature has");
  }
  return {};
}

Status parse_dense(const SnapshotReader& reader, SavedLearner& saved) {
  const auto m = std::size_t(saved.config.hidden_units());
  const std::size_t classes = saved.classes.size();
  const auto fits = saved.config.arithmetic == Arithmetic::exact ? all_whole : all_finite;
  ENGRAM_ASSIGN(saved.gram, floats(reader, "gram", classes == 0 ? 0 : m * (m + 1) / 2, fits));
  ENGRAM_ASSIGN(saved.sums, floats(reader, "class_sums", m * classes, fits));
  saved.has_feature_sums = classes == 0 || reader.has("feature_sums");
  if (classes > 0 && saved.has_feature_sums) {
    const std::size_t count = std::size_t(saved.config.features) * classes;
    ENGRAM_ASSIGN(saved.feature_sums, doubles(reader, "feature_sums", count));
    if (saved.config.arithmetic == Arithmetic::exact &&
        !reachable(saved.feature_sums, saved.classes)) {
      return damaged(reader, "section feature_sums does not fit the learner");
    }
  }
  ENGRAM_ASSIGN(saved.samples, samples_of(reader, "task_rows", "task_classes",
                                          Projection::row_bytes(saved.config), classes));
  const std::size_t open = saved.samples.classes.size();
  if (reader.has("task_ids")) {
    ENGRAM_ASSIGN(saved.ids, ids_of(reader, "task_ids", open, saved.progress.closed_ids,
                                    saved.progress.next_id));
  } else {
    saved.ids.resize(open);
    std::iota(saved.ids.begin(), saved.ids.end(), saved.progress.next_id - std::int64_t(open));
  }
  return parse_rows(reader, saved);
}

Status parse_factored(const SnapshotReader& reader, SavedLearner& saved) {
  ENGRAM_ASSIGN(saved.samples,
                samples_of(reader, "kept_rows", "kept_classes", Projection::row_bytes(saved.config),
                           saved.classes.size()));
  const std::size_t count = saved.samples.classes.size();
  if (count > std::size_t(factored_limit(saved.config))) {
    return damaged(reader, "the samples it keeps do not fit the learner");
  }
  if (saved.config.arithmetic == Arithmetic::floating && saved.config.hidden != 0) {
    ENGRAM_ASSIGN(saved.hidden,
                  floats(reader, "kept_hidden", count * std::size_t(saved.config.hidden)));
  }
  ENGRAM_ASSIGN(saved.ids, ids_of(reader, "kept_ids", count, 0, saved.progress.next_id));
  const auto open = std::upper_bound(saved.ids.begin(), saved.ids.end(), saved.progress.closed_ids);
  if (saved.progress.task_samples != saved.ids.end() - open) {
    return damaged(reader, "its open task has another number of samples than it keeps");
  }
  std::vector<std::int64_t> counts(saved.classes.size());
  for (const std::int32_t index : saved.samples.classes) ++counts[std::size_t(index)];
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] != saved.classes[k].samples) {
      return damaged(reader, "its classes have another number of samples than it keeps");
    }
  }
  return {};
}

// The readout, or null where none was solved yet.
Result<std::shared_ptr<const Readout>> parse_readout(const SnapshotReader& reader,
                                                     const SavedLearner& saved) {
  if (!reader.has("readout")) return std::shared_ptr<const Readout>();
  const SavedProgress& progress = saved.progress;
  const auto m = std::size_t(saved.config.hidden_units());
  if (!is_lambda(progress.readout_lambda)) {
    return damaged(reader, "its readout has an impossible lambda");
  }
  if (progress.readout_classes > std::ssize(saved.classes)) {
    return damaged(reader, "its readout has too many classes");
  }
  const auto solved = std::size_t(progress.readout_classes);
  ENGRAM_ASSIGN(const auto weights, floats(reader, "readout", m * solved));
  auto readout = std::make_shared<Readout>();
  for (std::size_t k = 0; k < solved; ++k) readout->classes.push_back(saved.classes[k].label);
  readout->weights.resize(m * solved);
  if (!weights.empty()) std::memcpy(readout->weights.data(), weights.data(), weights.size());
  if (reader.has("feature_weights")) {
    const std::size_t count = std::size_t(saved.config.features) * solved;
    ENGRAM_ASSIGN(const auto section, floats(reader, "feature_weights", count));
    readout->feature_weights.resize(count);
    if (count > 0) std::memcpy(readout->feature_weights.data(), section.data(), section.size());
  }
  readout->hidden_units = int(m);
  readout->lambda = progress.readout_lambda;
  readout->samples = progress.readout_samples;
  ENGRAM_ASSIGN(const bool sensible, read_judging(reader, *readout));
  if (!sensible) return damaged(reader, "what its readout judges by makes no sense");
  return std::shared_ptr<const Readout>(std::move(readout));
}

}  // namespace

Result<SavedLearner> parse_learner(const SnapshotReader& reader) {
  SavedLearner saved;
  ENGRAM_ASSIGN(const auto text, reader.section("config"));
  const Result<LearnerConfig> config = parse_config(as_text(text));
  if (!config.ok()) return damaged(reader, config.status().what());
  saved.config = config.value();
  if (const Status valid = validate(saved.config); !valid.ok()) {
    return damaged(reader, valid.what());
  }
  ENGRAM_ASSIGN(const auto progress, reader.section("progress"));
  if (!parse_progress(progress, saved.progress)) {
    return damaged(reader, "its section progress makes no sense");
  }
  ENGRAM_ASSIGN(saved.classes, parse_classes(reader));
  std::int64_t samples = 0;
  for (const ClassInfo& info : saved.classes) samples += info.samples;
  if (saved.progress.next_id < 0) {
    saved.progress.next_id = samples + 1;
    saved.progress.closed_ids = samples - saved.progress.task_samples;
  }
  if (saved.progress.next_id <= samples || saved.progress.closed_ids < 0) {
    return damaged(reader, "it holds more samples than were ever learned");
  }
  if (saved.progress.form == Form::dense) {
    ENGRAM_TRY(parse_dense(reader, saved));
  } else {
    ENGRAM_TRY(parse_factored(reader, saved));
  }
  if (!only_features(saved.config, saved.samples.rows)) {
    return damaged(reader, "its samples hold values that no feature has");
  }
  ENGRAM_ASSIGN(saved.readout, parse_readout(reader, saved));
  return saved;
}

}  // namespace engram
