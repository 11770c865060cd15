#include "engine/scorer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/device_plan.h"
#include "engine/leverage.h"
#include "engine/memory_plan.h"
#include "engine/projection.h"
#include "engine/readout_scores.h"
#include "platform/arena.h"
#include "platform/device_staging.h"

namespace engram {

struct Scorer::Impl {
  std::optional<Arena> arena;  // its own, unless it shares another's
  std::shared_ptr<const Projection> projection;
  ProjectionScratch scratch;
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
  const DeviceHold hold;
  const Projection& projection = *impl_->projection;
  const int classes = int(readout.classes.size());
  ENGRAM_TRY(check_features(features, projection.config().features));
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
    const MatrixView<float> h = impl_->scratch.h.row_range(0, count);
    MatrixView<const float> f = features.row_range(first, count);
    ENGRAM_TRY(projection.from_features(f, impl_->scratch, h));
    if (projection.config().arithmetic == Arithmetic::exact && !readout.feature_weights.empty()) {
      const auto* rows = reinterpret_cast<const std::byte*>(impl_->scratch.q.data);
      f = projection.features_of(rows, count, impl_->scratch);
    }
    ENGRAM_TRY(score_samples(projection.kernels(), readout, h, f, impl_->scratch.tile,
                             scores.row_range(first, count)));
    if (!probes_wanted) continue;
    ENGRAM_TRY(leverages_of(projection.kernels(), *readout.probes, h, impl_->scratch.products.data,
                            leverages.subspan(std::size_t(first), std::size_t(count))));
  }
  return {};
}

Status check_features(MatrixView<const float> features, int width) {
  if (features.cols != width) {
    return Status(Code::invalid_argument,
                  fmt::format("Rows of {} features were given; this learner takes {}. Nothing was "
                              "changed.",
                              features.cols, width));
  }
  for (int b = 0; b < features.rows; ++b) {
    const float* row = features.row(b);
    for (int l = 0; l < width; ++l) {
      if (std::isfinite(row[l])) [[likely]]
        continue;
      return Status(Code::bad_data,
                    fmt::format("Feature {} of row {} is {}; features must be finite. Nothing was "
                                "changed.",
                                l, b, row[l]));
    }
  }
  return {};
}

}  // namespace engram
