#include "engine/scorer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/device_plan.h"
#include "engine/feature_check.h"
#include "engine/leverage.h"
#include "engine/memory_plan.h"
#include "engine/projection.h"
#include "engine/readout_scores.h"
#include "kernels/backend.h"
#include "kernels/kernel_sequence.h"
#include "platform/arena.h"
#include "platform/device_staging.h"

namespace engram {

struct Scorer::Impl {
  std::optional<Arena> arena;  // its own, unless it shares another's
  std::shared_ptr<const Projection> projection;
  ProjectionScratch scratch;

  // A batch at most. leverages may be empty. In the exact arithmetic a frame is one piece of work for a
  // device, from features to scores and leverages.
  Status score_bytes(MatrixView<const float> features, const Readout& readout,
                     MatrixView<float> scores, std::span<float> leverages);
  Status score_floats(MatrixView<const float> features, const Readout& readout,
                      MatrixView<float> scores, std::span<float> leverages);
};

Scorer::Scorer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scorer::Scorer(Scorer&&) noexcept = default;
Scorer& Scorer::operator=(Scorer&&) noexcept = default;
Scorer::~Scorer() = default;

Result<Scorer> Scorer::create(const LearnerConfig& config, const Kernels& kernels) {
  const DeviceHold hold;
  ENGRAM_TRY(validate(config));
  ENGRAM_ASSIGN(Arena arena, Arena::create(std::size_t(plan(config, 1).scorer_arena_bytes())));
  if (const DeviceMemory* device = buffer_memory()) {
    constexpr int kPlannedClasses = 1000;  // more of them grow it once
    const auto staging = std::size_t(reader_staging_bytes(config, kPlannedClasses));
    ENGRAM_TRY(DeviceStaging::of(*device).reserve(staging));
  }
  auto impl = std::make_unique<Impl>();
  impl->arena = std::move(arena);
  impl->projection = std::make_shared<const Projection>(config, kernels, *impl->arena);
  impl->scratch = ProjectionScratch::take(config, batch_rows(config), *impl->arena);
  impl->arena->seal();
  return Scorer(std::move(impl));
}

Scorer Scorer::share(std::shared_ptr<const Projection> projection, Arena& arena) {
  auto impl = std::make_unique<Impl>();
  const LearnerConfig& config = projection->config();
  impl->scratch = ProjectionScratch::take(config, batch_rows(config), arena);
  impl->projection = std::move(projection);
  return Scorer(std::move(impl));
}

const Kernels& Scorer::kernels() const {
  return impl_->projection->kernels();
}

Status Scorer::score(MatrixView<const float> features, const Readout& readout,
                     MatrixView<float> scores) {
  return score(features, readout, scores, {});
}

Status Scorer::score(MatrixView<const float> features, const Readout& readout,
                     MatrixView<float> scores, std::span<float> leverages) {
  Status scored = score_once(features, readout, scores, leverages);
  const bool lost = !scored.ok() && !give_up_lost_device(scored).ok();
  if (!lost || !impl_->arena || &kernels() == &chosen_kernels()) return scored;
  ENGRAM_ASSIGN(*this, create(impl_->projection->config()));
  return score_once(features, readout, scores, leverages);
}

Status Scorer::score_once(MatrixView<const float> features, const Readout& readout,
                          MatrixView<float> scores, std::span<float> leverages) {
  const DeviceHold hold;
  const Projection& projection = *impl_->projection;
  const int classes = int(readout.classes.size());
  const bool exact = projection.config().arithmetic == Arithmetic::exact;
  // In the exact arithmetic a frame finds out by itself whether it is finite.
  ENGRAM_TRY((exact ? check_width : check_features)(features, projection.config().features));
  if (readout.hidden_units != projection.config().hidden_units()) {
    return Status(Code::invalid_argument,
                  fmt::format("This readout is for {} hidden units, the learner has {}.",
                              readout.hidden_units, projection.config().hidden_units()));
  }
  ENGRAM_CHECK(scores.rows == features.rows && scores.cols == classes);
  ENGRAM_CHECK(leverages.empty() || int(leverages.size()) == features.rows);
  const bool probes_wanted = !leverages.empty() && readout.probes != nullptr;
  if (!probes_wanted) std::fill(leverages.begin(), leverages.end(), 0.0F);
  const int rows = impl_->scratch.h.rows;
  for (int first = 0; first < features.rows; first += rows) {
    const int count = std::min(rows, features.rows - first);
    const auto part = probes_wanted ? leverages.subspan(std::size_t(first), std::size_t(count))
                                    : std::span<float>();
    ENGRAM_TRY((impl_.get()->*(exact ? &Impl::score_bytes : &Impl::score_floats))(
        features.row_range(first, count), readout, scores.row_range(first, count), part));
    if (exact) {
      ENGRAM_TRY(check_finite(features, {impl_->scratch.not_finite.data, 1, count, count}));
    }
  }
  return {};
}

Status Scorer::Impl::score_bytes(MatrixView<const float> features, const Readout& readout,
                                 MatrixView<float> scores, std::span<float> leverages) {
  const Kernels& kernels = projection->kernels();
  const int classes = scores.cols, units = readout.hidden_units, width = features.cols;
  const MatrixView<float> h = scratch.h.row_range(0, features.rows);
  KernelSequence frame(kernels);
  ENGRAM_TRY(projection->from_features(features, scratch, h));
  ENGRAM_TRY(kernels.score(Stream{}, h, {readout.weights.data(), classes, units, units}, scores));
  if (!readout.feature_weights.empty()) {
    ENGRAM_CHECK(readout.feature_weights.size() == std::size_t(classes) * std::size_t(width));
    ENGRAM_TRY(kernels.feature_score(Stream{}, scratch.q.row_range(0, features.rows),
                                     {readout.feature_weights.data(), classes, width, width},
                                     scores));
  }
  if (!leverages.empty()) {
    ENGRAM_TRY(leverages_of(kernels, *readout.probes, h, scratch.products.data, leverages));
  }
  ENGRAM_TRY(frame.end());
  add_bias(readout, scores);
  return {};
}

Status Scorer::Impl::score_floats(MatrixView<const float> features, const Readout& readout,
                                  MatrixView<float> scores, std::span<float> leverages) {
  const Kernels& kernels = projection->kernels();
  const MatrixView<float> h = scratch.h.row_range(0, features.rows);
  ENGRAM_TRY(projection->from_features(features, scratch, h));
  ENGRAM_TRY(score_samples(kernels, readout, h, features, scratch.tile, scores));
  if (leverages.empty()) return {};
  return leverages_of(kernels, *readout.probes, h, scratch.products.data, leverages);
}

}  // namespace engram
