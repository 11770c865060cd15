// Learner::save: the sections of a snapshot.
//
//   section        bytes
//   config         JSON of LearnerConfig
//   progress       JSON: form, tasks, task_samples, next_id, closed_ids, sums_only, exact_until; of
//                  the readout: classes, lambda, samples
//   classes        per class: u32 length, label, i64 samples; in the order first seen
//   readout        Wo: rows of M floats, of the first classes; absent before the first readout
//   feature_weights  Wf: as many rows of L floats; absent where there is none
// of the dense form:
//   gram           G's lower triangle with diagonal, by rows: M (M + 1) / 2 floats; none: no class
//   class_sums     C: K rows of M floats
//   feature_sums   F: K rows of L doubles; absent in a state that began without them
//   task_rows      encoded samples of the open task, where the lambda rule needs them
//   task_classes   i32 class of each of them
//   task_ids       i64 number of each of them, ascending
// of both, where features are kept, for every sample that has a row:
//   kept_rows      encoded samples
//   kept_classes   i32 class of each of them
//   kept_ids       i64 number of each of them, ascending
// of the factored form, in the floating arithmetic with a projection, where computing them again may
// round otherwise:
//   kept_hidden    floats: their hidden units
// Whole hidden units and the kernel matrix are computed again from the rows: they would be ten times
// as large.
#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/confidence_io.h"
#include "engine/learner_impl.h"
#include "platform/device_staging.h"
#include "platform/finite.h"

namespace engram {
namespace {

using Json = nlohmann::json;

std::span<const std::byte> bytes_of(const void* data, std::size_t count) {
  return {static_cast<const std::byte*>(data), count};
}

// |G[r,c]|^2 <= G[r,r] G[c,c]: the diagonal speaks for all of G.
bool has_finite_sums(const Statistics& statistics) {
  if (!std::isfinite(statistics.trace())) return false;
  if (statistics.form() == Form::factored) return true;
  const MatrixView<const float> sums = statistics.dense().sums();
  return are_finite(std::span(sums.data, std::size_t(sums.rows) * std::size_t(sums.cols)));
}

Status write_dense(const DenseStatistics& dense, const FeatureSums& features,
                   SnapshotWriter& writer) {
  const GramView& gram = dense.gram();
  const MatrixView<const float> sums = dense.sums();
  // Nothing learned: G is all zeros, and a new state should not take 200 MB of them.
  ENGRAM_TRY(writer.begin_section("gram"));
  std::vector<float> row(std::size_t(gram.size));
  for (int r = 0; r < gram.size && sums.rows > 0; ++r) {
    DeviceHold::let_others();
    std::copy_n(gram.row(r), r, row.begin());
    row[std::size_t(r)] = gram.diagonal[r];
    ENGRAM_TRY(writer.write(bytes_of(row.data(), sizeof(float) * std::size_t(r + 1))));
  }
  ENGRAM_TRY(writer.begin_section("class_sums"));
  ENGRAM_TRY(writer.write(
      bytes_of(sums.data, sizeof(float) * std::size_t(sums.rows) * std::size_t(sums.cols))));
  if (!features.complete()) return {};
  const MatrixView<const double> f = features.sums();
  ENGRAM_TRY(writer.begin_section("feature_sums"));
  return writer.write(bytes_of(f.data, sizeof(double) * std::size_t(f.rows) * std::size_t(f.cols)));
}

Status write_samples(const KeptSamples& samples, const char* rows, const char* classes,
                     const char* ids, SnapshotWriter& writer) {
  ENGRAM_TRY(writer.begin_section(rows));
  for (int block = 0; block < samples.blocks(); ++block) {
    ENGRAM_TRY(writer.write(samples.block_rows(block)));
  }
  ENGRAM_TRY(writer.begin_section(classes));
  ENGRAM_TRY(writer.write(std::as_bytes(samples.classes())));
  ENGRAM_TRY(writer.begin_section(ids));
  return writer.write(std::as_bytes(samples.ids()));
}

Status write_hidden(const KeptSamples& samples, SnapshotWriter& writer) {
  ENGRAM_TRY(writer.begin_section("kept_hidden"));
  for (int block = 0; block < samples.blocks(); ++block) {
    const KeptView hidden = samples.block_hidden(block);
    ENGRAM_TRY(writer.write(bytes_of(
        hidden.floats, sizeof(float) * std::size_t(hidden.rows) * std::size_t(hidden.cols))));
  }
  return {};
}

}  // namespace

Status Learner::save(SnapshotWriter& writer) const {
  const DeviceHold hold;
  const Statistics& statistics = impl_->statistics;
  const auto current = readout();

  // Learner::load would refuse them.
  if (!has_finite_sums(statistics)) {
    return Status(Code::bad_data,
                  "The learned sums are not finite and were not saved. What was saved before was "
                  "kept.");
  }

  const std::string config = to_json(impl_->config);
  ENGRAM_TRY(writer.begin_section("config"));
  ENGRAM_TRY(writer.write(bytes_of(config.data(), config.size())));

  const Json json{{"form", name(statistics.form())},
                  {"tasks", impl_->tasks},
                  {"task_samples", impl_->task_samples},
                  {"next_id", statistics.next_id()},
                  {"closed_ids", impl_->closed_ids},
                  {"sums_only", statistics.sums_only()},
                  {"exact_until", statistics.exact_until()},
                  {"readout_classes", current ? current->classes.size() : 0},
                  {"readout_lambda", current ? current->lambda : 0.0},
                  {"readout_samples", current ? current->samples : 0}};
  const std::string progress = json.dump();
  ENGRAM_TRY(writer.begin_section("progress"));
  ENGRAM_TRY(writer.write(bytes_of(progress.data(), progress.size())));

  ENGRAM_TRY(writer.begin_section("classes"));
  for (const ClassInfo& info : statistics.classes().all()) {
    const auto length = std::uint32_t(info.label.size());
    ENGRAM_TRY(writer.write(bytes_of(&length, sizeof length)));
    ENGRAM_TRY(writer.write(bytes_of(info.label.data(), info.label.size())));
    ENGRAM_TRY(writer.write(bytes_of(&info.samples, sizeof info.samples)));
  }

  if (statistics.form() == Form::dense) {
    ENGRAM_TRY(write_dense(statistics.dense(), statistics.features(), writer));
    ENGRAM_TRY(write_samples(impl_->task, "task_rows", "task_classes", "task_ids", writer));
  }
  if (const KeptSamples* kept = statistics.kept()) {
    ENGRAM_TRY(write_samples(*kept, "kept_rows", "kept_classes", "kept_ids", writer));
  }
  if (statistics.form() == Form::factored && impl_->config.arithmetic == Arithmetic::floating &&
      impl_->config.hidden != 0) {
    ENGRAM_TRY(write_hidden(statistics.factored().kept(), writer));
  }

  if (current == nullptr) return {};
  ENGRAM_TRY(writer.begin_section("readout"));
  ENGRAM_TRY(
      writer.write(bytes_of(current->weights.data(), sizeof(float) * current->weights.size())));
  if (!current->feature_weights.empty()) {
    ENGRAM_TRY(writer.begin_section("feature_weights"));
    ENGRAM_TRY(writer.write(std::as_bytes(std::span(current->feature_weights))));
  }
  return write_judging(writer, *current);
}

}  // namespace engram
