// Learner::save: the sections of a snapshot.
//
//   section        bytes
//   config         JSON of LearnerConfig
//   progress       JSON: tasks, task_samples, exact_until; of the readout: classes, lambda, samples
//   classes        per class: u32 length, label, i64 samples; in the order first seen
//   gram           G's lower triangle with diagonal, by rows: M (M + 1) / 2 floats; none: no class
//   class_sums     C: K rows of M floats
//   task_rows      encoded samples of the open task
//   task_classes   i32 class of each of them
//   readout        Wo: rows of M floats, of the first classes; absent before the first readout
#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/learner_impl.h"

namespace engram {
namespace {

using Json = nlohmann::json;

std::span<const std::byte> bytes_of(const void* data, std::size_t count) {
  return {static_cast<const std::byte*>(data), count};
}

// |G[r,c]|^2 <= G[r,r] G[c,c]: the diagonal speaks for all of G.
bool all_finite(const Statistics& statistics) {
  const MatrixView<const float> sums = statistics.sums();
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::isfinite(statistics.trace()) &&
         std::all_of(sums.data, sums.data + std::size_t(sums.rows) * std::size_t(sums.cols),
                     finite);
}

}  // namespace

Status Learner::save(SnapshotWriter& writer) const {
  const Statistics& statistics = impl_->statistics;
  const GramView& gram = statistics.gram();
  const auto current = readout();

  // Learner::load would refuse them.
  if (!all_finite(statistics)) {
    return Status(Code::bad_data,
                  "The learned sums are not finite and were not saved. What was saved before was "
                  "kept.");
  }

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

}  // namespace engram
