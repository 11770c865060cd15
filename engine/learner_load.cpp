// Learner::load: what learner_save.cpp wrote, checked before it is believed.
#include <cmath>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/label.h"
#include "engine/lambda_range.h"
#include "engine/learner_impl.h"

namespace engram {
namespace {

using Json = nlohmann::json;

Status damaged(const SnapshotReader& reader, const std::string& what) {
  return Status(
      Code::bad_data,
      fmt::format("{}: {}. The file was not changed; restore it from a copy, or learn anew.",
                  reader.path(), what));
}

// Takes values off the front of a section.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : left_(bytes) {}
  template <class T>
  bool take(T& value) {
    if (left_.size() < sizeof(T)) return false;
    std::memcpy(&value, left_.data(), sizeof(T));
    left_ = left_.subspan(sizeof(T));
    return true;
  }
  bool take(std::string& text, std::size_t bytes) {
    if (left_.size() < bytes) return false;
    text.assign(reinterpret_cast<const char*>(left_.data()), bytes);
    left_ = left_.subspan(bytes);
    return true;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

bool all_finite(std::span<const std::byte> section) {
  Cursor cursor(section);
  for (float value = 0; cursor.take(value);) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

struct Progress {
  std::int64_t tasks = 0, task_samples = 0, exact_until = 0;
  std::int64_t readout_classes = 0, readout_samples = 0;
  double readout_lambda = 0;
};

bool parse_progress(std::span<const std::byte> section, Progress& progress) {
  const auto* text = reinterpret_cast<const char*>(section.data());
  const Json json = Json::parse(text, text + section.size(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return false;
  const auto whole = [&](const char* field, std::int64_t& value) {
    const auto found = json.find(field);
    if (found == json.end() || !found->is_number_integer()) return false;
    value = found->get<std::int64_t>();
    return value >= 0;
  };
  const auto lambda = json.find("readout_lambda");
  if (lambda == json.end() || !lambda->is_number()) return false;
  progress.readout_lambda = lambda->get<double>();
  return whole("tasks", progress.tasks) && whole("task_samples", progress.task_samples) &&
         whole("exact_until", progress.exact_until) &&
         whole("readout_classes", progress.readout_classes) &&
         whole("readout_samples", progress.readout_samples) && progress.tasks <= INT32_MAX;
}

Result<std::vector<ClassInfo>> parse_classes(const SnapshotReader& reader) {
  ENGRAM_ASSIGN(const auto section, reader.section("classes"));
  std::vector<ClassInfo> classes;
  Cursor cursor(section);
  while (!cursor.empty()) {
    ClassInfo info;
    std::uint32_t length = 0;
    if (!cursor.take(length) || !cursor.take(info.label, length) || !cursor.take(info.samples) ||
        info.samples < 0 || !check_label(info.label).ok()) {
      return damaged(reader, "its list of classes makes no sense");
    }
    classes.push_back(std::move(info));
  }
  return classes;
}

// The section of that name, if it has exactly that many bytes of finite floats.
Result<std::span<const std::byte>> floats(const SnapshotReader& reader, const char* name,
                                          std::size_t count) {
  ENGRAM_ASSIGN(const auto section, reader.section(name));
  if (section.size() != count * sizeof(float) || !all_finite(section)) {
    return damaged(reader, fmt::format("section {} does not fit the learner", name));
  }
  return section;
}

}  // namespace

Result<Learner> Learner::load(const SnapshotReader& reader, const Kernels& kernels) {
  ENGRAM_ASSIGN(const auto text, reader.section("config"));
  const Result<LearnerConfig> parsed =
      parse_config({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!parsed.ok()) return damaged(reader, parsed.status().what());
  const LearnerConfig& config = parsed.value();
  if (const Status valid = validate(config); !valid.ok()) return damaged(reader, valid.what());
  ENGRAM_ASSIGN(const auto progress_text, reader.section("progress"));
  Progress progress;
  if (!parse_progress(progress_text, progress)) {
    return damaged(reader, "its section progress makes no sense");
  }
  ENGRAM_ASSIGN(const std::vector<ClassInfo> classes, parse_classes(reader));

  // All sizes are compared before anything of that size is made.
  const auto m = std::size_t(config.hidden_units());
  const bool empty = classes.empty();
  ENGRAM_ASSIGN(const auto gram_bytes, floats(reader, "gram", empty ? 0 : m * (m + 1) / 2));
  ENGRAM_ASSIGN(const auto sum_bytes, floats(reader, "class_sums", m * classes.size()));
  ENGRAM_ASSIGN(const auto rows, reader.section("task_rows"));
  ENGRAM_ASSIGN(const auto row_classes, reader.section("task_classes"));
  const std::size_t row_bytes = Projection::row_bytes(config);
  const std::size_t kept = row_classes.size() / sizeof(std::int32_t);
  if (row_classes.size() % sizeof(std::int32_t) != 0 || rows.size() != kept * row_bytes) {
    return damaged(reader, "the samples of its open task do not fit the learner");
  }

  ENGRAM_ASSIGN(Learner learner, Learner::create(config, kernels));
  Impl& impl = *learner.impl_;
  try {
    ENGRAM_TRY(impl.statistics.reserve_classes(int(classes.size())));
    for (const ClassInfo& info : classes) {
      if (impl.statistics.find_class(info.label) >= 0) {
        return damaged(reader, "one of its classes is there twice");
      }
      impl.statistics.add_class(info.label, info.samples);
    }
    const GramView& gram = impl.statistics.gram();
    const std::byte* next = gram_bytes.data();
    for (int r = 0; r < gram.size && !empty; ++r) {
      std::memcpy(gram.row(r), next, sizeof(float) * std::size_t(r));
      std::memcpy(gram.diagonal + r, next + sizeof(float) * std::size_t(r), sizeof(float));
      next += sizeof(float) * std::size_t(r + 1);
    }
    if (!sum_bytes.empty()) {
      std::memcpy(impl.statistics.sums().data, sum_bytes.data(), sum_bytes.size());
    }
    impl.statistics.watch_rounding(progress.exact_until);

    Cursor cursor(row_classes);
    std::vector<std::int32_t> task_classes(kept);
    for (std::int32_t& index : task_classes) {
      cursor.take(index);
      if (index < 0 || std::size_t(index) >= classes.size()) {
        return damaged(reader, "a sample of its open task has a class that does not exist");
      }
    }
    ENGRAM_TRY(impl.task.append(rows.data(), task_classes));
    impl.tasks = int(progress.tasks);
    impl.task_samples = progress.task_samples;
    if (!reader.has("readout")) return learner;

    const auto solved = std::size_t(progress.readout_classes);
    if (!is_lambda(progress.readout_lambda)) {
      return damaged(reader, "its readout has an impossible lambda");
    }
    if (solved > classes.size()) return damaged(reader, "its readout has too many classes");
    ENGRAM_ASSIGN(const auto weights, floats(reader, "readout", m * solved));
    Readout readout;
    for (std::size_t k = 0; k < solved; ++k) readout.classes.push_back(classes[k].label);
    readout.weights.resize(m * solved);
    if (!weights.empty()) std::memcpy(readout.weights.data(), weights.data(), weights.size());
    readout.hidden_units = int(m);
    readout.lambda = progress.readout_lambda;
    readout.samples = progress.readout_samples;
    ENGRAM_TRY(impl.scores.reserve(sizeof(float) * kMaxBatch * solved));
    impl.publish(std::make_shared<const Readout>(std::move(readout)));
    return learner;
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  fmt::format("{}: the machine has no memory left to load it. The file was not "
                              "changed.",
                              reader.path()));
  }
}

}  // namespace engram
