#include "engine/queue_head.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/feature_check.h"
#include "engine/lambda_rule.h"

namespace engram {

Status QueueHead::learn_oldest(std::size_t count) {
  if (count == 0) return {};
  const int width = learner_.config().features;
  std::vector<float> rows;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) {
    rows.insert(rows.end(), queue_[i].features.begin(), queue_[i].features.end());
    labels.push_back(queue_[i].label);
  }
  ENGRAM_TRY(learner_.learn({rows.data(), int(count), width, width}, labels));
  queue_.erase(queue_.begin(), queue_.begin() + std::ptrdiff_t(count));
  return {};
}

Status QueueHead::learn(MatrixView<const float> features, std::span<const std::string> labels) {
  ENGRAM_TRY(check_features(features, learner_.config().features));
  for (int b = 0; b < features.rows; ++b) {
    queue_.push_back({{features.row(b), features.row(b) + features.cols}, labels[std::size_t(b)]});
  }
  return learn_oldest(queue_.size() - std::min(queue_.size(), std::size_t(length_)));
}

// Mean over the queue of the squared error against one-hot labels; a class that only the queue has
// cannot be told by any lambda and costs all of them the same.
Result<double> QueueHead::loss(double lambda) {
  ENGRAM_ASSIGN(const Learner::Solution solution, learner_.solve(lambda));
  const Readout& readout = *solution.readout;
  if (readout.lambda != lambda) return std::nan("");  // no factor exists at this one
  const int classes = int(readout.classes.size()), width = learner_.config().features;
  std::vector<float> scores(readout.classes.size());
  double sum = 0;
  for (const Waiting& waiting : queue_) {
    ENGRAM_TRY(learner_.score({waiting.features.data(), 1, width, width}, readout,
                              {scores.data(), 1, classes, classes}));
    for (int k = 0; k < classes; ++k) {
      const bool own = readout.classes[std::size_t(k)] == waiting.label;
      const double error = scores[std::size_t(k)] - (own ? 1.0 : 0.0);
      sum += error * error;
    }
  }
  return sum / double(queue_.size());
}

Result<ReadoutReport> QueueHead::end_task() {
  std::optional<double> best;
  ReadoutReport tried;
  if (learner_.samples() > 0 && !queue_.empty()) {
    for (const double lambda : lambda_grid(learner_.config())) {
      ENGRAM_ASSIGN(const double one, loss(lambda));
      tried.candidates.push_back(lambda);
      tried.losses.push_back(one);
      if (!std::isfinite(one)) continue;
      const auto least = std::min_element(
          tried.losses.begin(), tried.losses.end(),
          [](double a, double b) { return std::isfinite(a) && (!std::isfinite(b) || a < b); });
      best = tried.candidates[std::size_t(least - tried.losses.begin())];
    }
  }
  ENGRAM_TRY(learn_oldest(queue_.size()));
  ENGRAM_ASSIGN(ReadoutReport report, learner_.end_task(best));
  if (best) {
    report.rule = "queue";
    report.candidates = std::move(tried.candidates);
    report.losses = std::move(tried.losses);
  }
  return report;
}

}  // namespace engram
