#include "engine/statistics_head.h"

#include <algorithm>
#include <utility>

#include "engine/feature_check.h"
#include "engine/label.h"
#include "engine/memory_plan.h"
#include "kernels/kernels.h"

namespace engram {

Result<std::unique_ptr<ProtocolHead>> StatisticsHead::create(const Settings& settings,
                                                             const Kernels& kernels) {
  ENGRAM_TRY(validate(settings.config));
  const auto units = std::size_t(settings.config.hidden_units());
  const std::size_t bytes = std::size_t(plan(settings.config, 1).scorer_arena_bytes()) +
                            ProjectionScratch::bytes(settings.config, kMaxBatchRows) +
                            Arena::bytes_for(units * units, sizeof(float)) +
                            Arena::bytes_for(units, sizeof(float));
  ENGRAM_ASSIGN(Arena memory, Arena::create(bytes));
  std::unique_ptr<StatisticsHead> head(new StatisticsHead(settings, kernels, std::move(memory)));
  if (settings.balanced) {
    ENGRAM_ASSIGN(head->chooser_, Learner::create(settings.config, kernels));
  }
  return std::unique_ptr<ProtocolHead>(std::move(head));
}

StatisticsHead::StatisticsHead(const Settings& settings, const Kernels& kernels, Arena memory)
    : settings_(settings),
      kernels_(kernels),
      memory_(std::move(memory)),
      projection_(settings.config, kernels, memory_),
      scratch_(ProjectionScratch::take(settings.config, kMaxBatchRows, memory_)) {
  const int units = settings.config.hidden_units();
  gram_ = {memory_.take<float>(std::size_t(units) * std::size_t(units)),
           memory_.take<float>(std::size_t(units)), units, units};
}

Status StatisticsHead::learn(MatrixView<const float> features,
                             std::span<const std::string> labels) {
  ENGRAM_TRY(check_features(features, settings_.config.features));
  for (const std::string& label : labels) ENGRAM_TRY(check_label(label));
  if (chooser_) ENGRAM_TRY(chooser_->learn(features, labels));
  const auto units = std::size_t(gram_.size);
  std::vector<std::int32_t> numbers;
  for (const std::string& label : labels) {
    const auto found = std::find_if(classes_.begin(), classes_.end(),
                                    [&](const ClassInfo& info) { return info.label == label; });
    numbers.push_back(std::int32_t(found - classes_.begin()));
    if (found == classes_.end()) {
      classes_.push_back({label, 0});
      sums_.resize(classes_.size() * units);
    }
    ++classes_[std::size_t(numbers.back())].samples;
  }
  const MatrixView<float> sums{sums_.data(), int(classes_.size()), gram_.size, gram_.size};
  for (int first = 0; first < features.rows; first += kMaxBatchRows) {
    const int count = std::min(kMaxBatchRows, features.rows - first);
    const MatrixView<float> h = scratch_.h.row_range(0, count);
    ENGRAM_TRY(projection_.from_features(features.row_range(first, count), scratch_, h));
    ENGRAM_TRY(kernels_.gram_update(Stream{}, h, 1.0f, gram_));
    ENGRAM_TRY(
        kernels_.class_sums(Stream{}, h, {numbers.data() + first, 1, count, count}, 1.0f, sums));
  }
  return {};
}

Result<ReadoutReport> StatisticsHead::end_task() {
  const std::vector<std::int64_t> counts = counts_of(classes_);
  const ClassStatistics statistics{
      kernels_, gram_, {sums_.data(), int(classes_.size()), gram_.size, gram_.size}, counts};
  ReadoutReport report;
  if (chooser_) {
    ENGRAM_ASSIGN(report, chooser_->end_task());
    ENGRAM_ASSIGN(readout_, balanced_readout(statistics, report.lambda));
  } else {
    ENGRAM_ASSIGN(readout_, discriminant_readout(statistics, settings_.shrinkage));
    report.rule = "shrinkage";
  }
  report.lambda = readout_.ridge;
  report.note += readout_.note;
  return report;
}

Status StatisticsHead::classify(MatrixView<const float> features,
                                std::span<Prediction> predictions) {
  ENGRAM_TRY(check_features(features, settings_.config.features));
  const int classes = int(readout_.bias.size());
  const MatrixView<const float> weights{readout_.weights.data(), classes, gram_.size, gram_.size};
  std::vector<float> scores(std::size_t(kMaxBatchRows) * std::size_t(classes));
  for (int first = 0; first < features.rows; first += kMaxBatchRows) {
    const int count = std::min(kMaxBatchRows, features.rows - first);
    const MatrixView<float> h = scratch_.h.row_range(0, count);
    const MatrixView<float> s{scores.data(), count, classes, classes};
    ENGRAM_TRY(projection_.from_features(features.row_range(first, count), scratch_, h));
    ENGRAM_TRY(kernels_.score(Stream{}, h, weights, s));
    for (int b = 0; b < count; ++b) {
      for (int k = 0; k < classes; ++k) s(b, k) += readout_.bias[std::size_t(k)];
    }
    take_best(s, predictions.subspan(std::size_t(first), std::size_t(count)));
  }
  return {};
}

}  // namespace engram
