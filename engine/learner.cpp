#include "engine/learner.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/device_plan.h"
#include "engine/learner_impl.h"
#include "platform/device.h"
#include "platform/device_memory.h"
#include "platform/device_staging.h"

namespace engram {
namespace {

// In a turn: what grows may be what an operation of another learner is using.
Status reserve_factor(const DeviceMemory& device, int size) {
  const StagingTurn turn(device);
  return device.reserve_factor(size);
}

}  // namespace

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
  if (splits_task(config.lambda_rule)) {
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
    ENGRAM_TRY(reserve_factor(*device, std::max(config.hidden_units(), factored_limit(config))));
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
bool Learner::is_half_changed() const {
  return impl_->is_half_changed;
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
