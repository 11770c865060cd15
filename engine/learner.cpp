#include "engine/learner.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/device_plan.h"
#include "engine/label.h"
#include "engine/learner_impl.h"
#include "platform/device.h"
#include "platform/device_memory.h"
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

Status Learner::Impl::reserve() {
  if (statistics.form() == Form::factored) {
    return statistics.factored().reserve(KeptSamples::kBlockRows);
  }
  ENGRAM_TRY(pending.reserve(std::size_t(pending_limit())));
  ENGRAM_TRY(witnesses.reserve());
  return keeps_task() ? task.reserve(kReservedTaskSamples) : Status();
}

Status Learner::Impl::move_to_dense() {
  // All that can fail comes before the first change.
  Arena memory = Arena::empty();
  ProjectionScratch larger = scratch;
  if (scratch.h.rows < kMaxBatchRows) {
    ENGRAM_ASSIGN(memory, Arena::create(ProjectionScratch::bytes(config, kMaxBatchRows)));
    larger = ProjectionScratch::take(config, kMaxBatchRows, memory);
  }
  ENGRAM_TRY(pending.reserve(std::size_t(pending_limit())));
  ENGRAM_TRY(witnesses.reserve());
  KeptSamples open(config, /*with_hidden=*/false);
  if (config.lambda_rule == LambdaRule::paper || config.lambda_rule == LambdaRule::code) {
    const KeptSamples& kept = statistics.factored().kept();
    ENGRAM_TRY(
        open.reserve(std::max<std::size_t>(kReservedTaskSamples, std::size_t(task_samples))));
    for (int n = kept.size() - int(task_samples); n < kept.size(); ++n) {
      open.append(kept.row(n), {}, kept.classes().subspan(std::size_t(n), 1),
                  kept.ids()[std::size_t(n)]);
    }
  }
  ENGRAM_TRY(statistics.move_to_dense(larger.h));
  task = std::move(open);
  scratch = larger;
  if (memory.size() > 0) scratch_memory = std::move(memory);
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

Learner::Learner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;
Learner::~Learner() = default;

Result<Learner> Learner::create(const LearnerConfig& config, const Kernels& kernels) {
  const DeviceHold hold;
  ENGRAM_TRY(validate(config));
  constexpr int kPlannedClasses = 10;
  const MemoryPlan memory = plan(config, kPlannedClasses);
  if (memory.total() > machine_memory()) {
    return Status(Code::out_of_memory,
                  fmt::format("A learner with {} hidden units needs {} MB, and this machine has {} "
                              "MB. Choose fewer hidden units: `engram plan` says how many fit.",
                              config.hidden_units(), memory.total() / 1'000'000,
                              machine_memory() / 1'000'000));
  }
  if (const DeviceMemory* device = buffer_memory()) {
    const auto staging = std::size_t(staging_bytes(config, kPlannedClasses));
    ENGRAM_TRY(device->reserve_factor(std::max(config.hidden_units(), factored_limit(config))));
    const std::size_t free = device->free_bytes(), needed = std::size_t(memory.total()) + staging;
    if (needed > free) return device_memory_refused(needed, free);
    ENGRAM_TRY(DeviceStaging::of(*device).reserve(staging));
  }
  try {
    ENGRAM_ASSIGN(Arena arena, Arena::create(std::size_t(memory.learner_arena_bytes())));
    auto impl = std::make_unique<Impl>(config, kernels, std::move(arena));
    ENGRAM_TRY(impl->reserve());
    return Learner(std::move(impl));
  } catch (const std::bad_alloc&) {
    return Status(
        Code::out_of_memory,
        "The machine has no memory left for a learner. Close other programs or choose fewer "
        "hidden units.");
  }
}

const LearnerConfig& Learner::config() const {
  return impl_->config;
}
const Kernels& Learner::kernels() const {
  return impl_->projection->kernels();
}
std::vector<ClassInfo> Learner::classes() const {
  return impl_->statistics.classes().all();
}
std::int64_t Learner::samples() const {
  return impl_->statistics.samples();
}
std::int64_t Learner::task_samples() const {
  return impl_->task_samples;
}
int Learner::tasks() const {
  return impl_->tasks;
}

std::int64_t Learner::last_id() const {
  return impl_->statistics.next_id() - 1;
}

Form Learner::form() const {
  return impl_->statistics.form();
}

Result<SampleBatch> Learner::encode(MatrixView<const float> features,
                                    std::span<const std::string> labels) const {
  ENGRAM_TRY(check_count(features, labels.size()));
  ENGRAM_TRY(check_to_learn(impl_->config, features));
  ENGRAM_TRY(impl_->check_labels(labels));
  SampleBatch batch;
  batch.labels.assign(labels.begin(), labels.end());
  batch.rows.resize(labels.size() * impl_->projection->row_bytes());
  ENGRAM_TRY(impl_->projection->encode(features, batch.rows.data()));
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
  for (std::size_t first = 0; first < labels.size(); first += rows_at_once) {
    const std::size_t count = std::min(rows_at_once, labels.size() - first);
    DeviceHold::let_others();
    const std::byte* rows = batch.rows.data() + first * impl_->projection->row_bytes();
    const MatrixView<float> h = impl_->scratch.h.row_range(0, int(count));
    ENGRAM_TRY(impl_->projection->from_rows(rows, impl_->scratch, h));
    ENGRAM_TRY(impl_->accumulate(rows, h, labels.subspan(first, count)));
  }
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
  for (int first = 0; first < features.rows; first += rows_at_once) {
    const int count = std::min(rows_at_once, features.rows - first);
    const MatrixView<const float> part = features.row_range(first, count);
    const MatrixView<float> h = impl_->scratch.h.row_range(0, count);
    ENGRAM_TRY(impl_->projection->from_features(part, impl_->scratch, h));
    const void* rows = exact ? static_cast<const void*>(impl_->scratch.q.data) : part.data;
    ENGRAM_TRY(impl_->accumulate(static_cast<const std::byte*>(rows), h,
                                 labels.subspan(std::size_t(first), std::size_t(count))));
  }
  return {};
}

float Learner::gram(int row, int col) const {
  const DeviceHold hold;
  return impl_->statistics.gram(row, col);
}
float Learner::class_sum(int class_index, int unit) const {
  const DeviceHold hold;
  return impl_->statistics.class_sum(class_index, unit);
}
bool Learner::has_feature_sums() const {
  return impl_->statistics.features().complete();
}
double Learner::feature_sum(int class_index, int feature) const {
  const DeviceHold hold;
  return impl_->statistics.features().sums()(class_index, feature);
}
std::string Learner::digest() const {
  const DeviceHold hold;
  return impl_->statistics.digest(identity_json(impl_->config));
}
std::int64_t Learner::exact_until() const {
  const DeviceHold hold;
  return impl_->statistics.exact_until();
}
std::string Learner::rounding_note() const {
  if (config().arithmetic != Arithmetic::exact || samples() <= exact_until()) return {};
  return fmt::format("A sum has reached 2^24 and may have rounded; all was exact until {} samples.",
                     exact_until());
}

}  // namespace engram
