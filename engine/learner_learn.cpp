// Learning samples: what is refused, then rows, hidden units and statistics.
#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "engine/feature_check.h"
#include "engine/label.h"
#include "engine/learner_impl.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

// Float sums must stay finite for ever, or the state could never be opened again: |h| <= 1e15 keeps
// the sum of h^2 of 1e8 samples below the largest float. |p| <= |f| |w|, and a weight is at most 9:
// a Gaussian one of 53 random bits is within 8.6. Exact arithmetic is bounded by its quantisation.
Status check_size(const LearnerConfig& config, MatrixView<const float> features) {
  if (config.arithmetic == Arithmetic::exact) return {};
  constexpr double kLargestUnit = 1e15;
  const bool projects = config.hidden != 0;
  const bool squares = projects && config.nonlinearity == Nonlinearity::square;
  const double column = projects ? 9.0 * std::sqrt(double(config.features)) : 1.0;
  const double largest = (squares ? std::sqrt(kLargestUnit) : kLargestUnit) / column;
  for (int b = 0; b < features.rows; ++b) {
    double squared = 0;
    for (int l = 0; l < features.cols; ++l) squared += double(features(b, l)) * features(b, l);
    if (std::sqrt(squared) <= largest) continue;
    return Status(Code::bad_data,
                  fmt::format("Row {} of the features is a vector of length {:g}; float sums can "
                              "take up to {:g}. Nothing was changed.",
                              b, std::sqrt(squared), largest));
  }
  return {};
}

Status check_to_learn(const LearnerConfig& config, MatrixView<const float> features) {
  ENGRAM_TRY(check_features(features, config.features));
  return check_size(config, features);
}

// Quantised features are -127..127, float features are finite: a journal may hold anything.
Status check_rows(const LearnerConfig& config, const SampleBatch& batch) {
  const std::size_t wanted = batch.size() * Projection::row_bytes(config);
  if (batch.rows.size() != wanted) {
    return Status(Code::invalid_argument,
                  fmt::format("A batch of {} samples has {} bytes where this learner needs {}. "
                              "Nothing was changed.",
                              batch.size(), batch.rows.size(), wanted));
  }
  if (config.arithmetic == Arithmetic::floating) {
    const auto* values = reinterpret_cast<const float*>(batch.rows.data());
    return check_to_learn(config, {values, int(batch.size()), config.features, config.features});
  }
  if (std::find(batch.rows.begin(), batch.rows.end(), std::byte{0x80}) != batch.rows.end()) {
    return Status(
        Code::bad_data,
        "A batch holds the byte -128, which no quantised feature is. Nothing was changed.");
  }
  return {};
}

Status check_count(MatrixView<const float> features, std::size_t labels) {
  if (std::size_t(features.rows) == labels) return {};
  return Status(Code::invalid_argument,
                fmt::format("{} rows of features came with {} labels. Nothing was changed.",
                            features.rows, labels));
}

}  // namespace

Status Learner::Impl::check_labels(std::span<const std::string> labels) const {
  for (const std::string& label : labels) {
    if (statistics.classes().find(label) < 0) ENGRAM_TRY(check_label(label));
  }
  return {};
}

Status Learner::Impl::prepare(std::span<const std::string> labels) {
  try {
    if (statistics.form() == Form::factored &&
        statistics.samples() + std::int64_t(labels.size()) > factored_limit(config)) {
      ENGRAM_TRY(move_to_dense());
    }
    if (keeps_task()) ENGRAM_TRY(task.reserve(std::size_t(task.size()) + labels.size()));
    ENGRAM_TRY(reserve_said(readout.get()));
    return statistics.prepare(labels);
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left to learn. Nothing was learned; close other "
                  "programs and learn it again.");
  }
}

Status Learner::Impl::accumulate(const std::byte* rows, MatrixView<const float> h,
                                 std::span<const std::string> labels) {
  for (std::size_t b = 0; b < labels.size(); ++b) {
    batch_classes[b] = statistics.classes().find(labels[b]);
  }
  const std::span<const std::int32_t> classes(batch_classes, labels.size());
  if (keeps_task()) task.append(rows, h, classes, statistics.next_id());
  if (solved != nullptr && pending.size() + h.rows <= pending_limit()) {
    pending.append(rows, h, classes, statistics.next_id());
  } else if (solved != nullptr) {
    forget_factor();  // too many: a full solve costs less now
  }
  if (statistics.form() == Form::dense) witnesses.add(rows, classes);
  ENGRAM_TRY(note_said(rows, h, classes));
  ENGRAM_TRY(statistics.add(rows, h, classes));
  task_samples += h.rows;
  return {};
}

Result<SampleBatch> Learner::encode(MatrixView<const float> features,
                                    std::span<const std::string> labels) const {
  ENGRAM_TRY(check_count(features, labels.size()));
  if (impl_->config.arithmetic == Arithmetic::exact) {
    ENGRAM_TRY(check_width(features, impl_->config.features));  // encoding sees what is not finite
  } else {
    ENGRAM_TRY(check_to_learn(impl_->config, features));
  }
  SampleBatch batch;
  batch.rows.resize(labels.size() * impl_->projection->row_bytes());
  ENGRAM_TRY(impl_->projection->encode(features, batch.rows.data()));
  for (const std::string& label : labels) {
    if (impl_->statistics.classes().find(label) < 0) ENGRAM_TRY(check_new_label(label));
  }
  batch.labels.assign(labels.begin(), labels.end());
  return batch;
}

Status Learner::check(const SampleBatch& batch) const {
  ENGRAM_TRY(check_rows(impl_->config, batch));
  return impl_->check_labels(batch.labels);
}

Status Learner::learn(const SampleBatch& batch) {
  const DeviceHold hold;
  ENGRAM_TRY(check(batch));
  ENGRAM_TRY(impl_->prepare(batch.labels));
  const std::span<const std::string> labels = batch.labels;
  const auto rows_at_once = std::size_t(impl_->scratch.h.rows);
  impl_->is_half_changed = true;
  for (std::size_t first = 0; first < labels.size(); first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, labels.size() - first);
    DeviceHold::let_others();
    const std::byte* rows = batch.rows.data() + first * impl_->projection->row_bytes();
    const MatrixView<float> h = impl_->scratch.h.row_range(0, int(count));
    ENGRAM_TRY(impl_->projection->from_rows(rows, impl_->scratch, h));
    ENGRAM_TRY(impl_->accumulate(rows, h, labels.subspan(first, count)));
  }
  impl_->is_half_changed = false;
  return {};
}

Status Learner::learn(MatrixView<const float> features, std::span<const std::string> labels) {
  const DeviceHold hold;
  ENGRAM_TRY(check_count(features, labels.size()));
  ENGRAM_TRY(check_to_learn(impl_->config, features));
  ENGRAM_TRY(impl_->check_labels(labels));
  ENGRAM_TRY(impl_->prepare(labels));
  const bool exact = impl_->config.arithmetic == Arithmetic::exact;
  // Float rows are kept as they lie in memory: where they do not lie back to back, one by one.
  const bool together = exact || features.stride == features.cols;
  const int rows_at_once = together ? impl_->scratch.h.rows : 1;
  impl_->is_half_changed = true;
  for (int first = 0; first < features.rows; first += rows_at_once) {
    const int count = std::min(rows_at_once, features.rows - first);
    const MatrixView<const float> part = features.row_range(first, count);
    const MatrixView<float> h = impl_->scratch.h.row_range(0, count);
    ENGRAM_TRY(impl_->projection->from_features(part, impl_->scratch, h));
    const void* rows = exact ? static_cast<const void*>(impl_->scratch.q.data) : part.data;
    ENGRAM_TRY(impl_->accumulate(static_cast<const std::byte*>(rows), h,
                                 labels.subspan(std::size_t(first), std::size_t(count))));
  }
  impl_->is_half_changed = false;
  return {};
}

}  // namespace engram
