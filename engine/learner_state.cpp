// Learner::save and load: the sections of a snapshot.
//
//   section        bytes
//   config         JSON of LearnerConfig
//   progress       JSON: tasks, task_samples, exact_until, and of the readout classes, lambda,
//   samples classes        per class: u32 length, label, i64 samples; in the order first seen gram
//   G's lower triangle with diagonal, row by row: M (M + 1) / 2 floats class_sums     C: K rows of
//   M floats task_rows      encoded samples of the open task task_classes   i32 class of each of
//   them readout        Wo: rows of M floats, for the first classes; absent before the first end of
//   a task
#include <cmath>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/label.h"
#include "engine/learner_impl.h"

namespace engram {
namespace {

using Json = nlohmann::json;

std::span<const std::byte> bytes_of(const void* data, std::size_t count) {
  return {static_cast<const std::byte*>(data), count};
}

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

Status Learner::save(SnapshotWriter& writer) const {
  const Statistics& statistics = impl_->statistics;
  const GramView& gram = statistics.gram();
  const auto current = readout();

  const std::string config = to_json(impl_->config);
  ENGRAM_TRY(writer.begin_section("config"));
  ENGRAM_TRY(writer.write(bytes_of(config.data(), config.size())));

  const Json json{{"tasks", impl_->tasks},
                  {"task_samples", impl_->task_samples},
                  {"exact_until", statistics.exact_until()},
                  {"readout_classes", current ? current->classes.size() : 0},
                  {"readout_lambda", current ? current->lambda : 0.0},
                  {"readout_samples", current ? current->samples : 0}};
  const std::string progress = json.dump();
  ENGRAM_TRY(writer.begin_section("progress"));
  ENGRAM_TRY(writer.write(bytes_of(progress.data(), progress.size())));

  ENGRAM_TRY(writer.begin_section("classes"));
  for (const ClassInfo& info : statistics.classes()) {
    const auto length = std::uint32_t(info.label.size());
    ENGRAM_TRY(writer.write(bytes_of(&length, sizeof length)));
    ENGRAM_TRY(writer.write(bytes_of(info.label.data(), info.label.size())));
    ENGRAM_TRY(writer.write(bytes_of(&info.samples, sizeof info.samples)));
  }

  // Nothing learned: G is all zeros, and a new state should not take 200 MB of them.
  ENGRAM_TRY(writer.begin_section("gram"));
  std::vector<float> row(std::size_t(gram.size));
  for (int r = 0; r < gram.size && !statistics.classes().empty(); ++r) {
    std::copy_n(gram.row(r), r, row.begin());
    row[std::size_t(r)] = gram.diagonal[r];
    ENGRAM_TRY(writer.write(bytes_of(row.data(), sizeof(float) * std::size_t(r + 1))));
  }
  const MatrixView<const float> sums = statistics.sums();
  ENGRAM_TRY(writer.begin_section("class_sums"));
  ENGRAM_TRY(writer.write(
      bytes_of(sums.data, sizeof(float) * std::size_t(sums.rows) * std::size_t(sums.cols))));

  ENGRAM_TRY(writer.begin_section("task_rows"));
  ENGRAM_TRY(writer.write(impl_->task.rows()));
  ENGRAM_TRY(writer.begin_section("task_classes"));
  ENGRAM_TRY(writer.write(std::as_bytes(impl_->task.classes())));

  if (current == nullptr) return {};
  ENGRAM_TRY(writer.begin_section("readout"));
  return writer.write(bytes_of(current->weights.data(), sizeof(float) * current->weights.size()));
}

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
