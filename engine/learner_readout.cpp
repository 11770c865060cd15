// The end of a task, and what follows from it: readouts, scores, labels.
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/lambda_range.h"
#include "engine/lambda_rule.h"
#include "engine/learner_impl.h"

namespace engram {

Status Learner::Impl::publish(std::shared_ptr<const Readout> next) {
  if (next != nullptr) {
    const std::lock_guard lock(score_mutex);
    ENGRAM_TRY(
        scores.reserve(sizeof(float) * std::size_t(batch_rows(config)) * next->classes.size()));
  }
  const std::lock_guard lock(readout_mutex);
  readout.swap(next);
  return {};
}

Result<Learner::Solution> Learner::solve(std::optional<double> lambda) {
  const auto start = std::chrono::steady_clock::now();
  if (lambda && !is_lambda(*lambda)) {
    return Status(
        Code::invalid_argument,
        fmt::format("lambda is {}; it must be 1e-30 to 1e30. The readout before was kept.",
                    *lambda));
  }
  try {
    ReadoutReport report;
    LambdaChoice choice;
    impl_->forget_factor();
    if (lambda) {
      choice.lambda = *lambda;
      report.rule = "replayed";
    } else {
      const auto before = readout();
      Statistics& statistics = impl_->statistics;
      const bool factored = statistics.form() == Form::factored;
      const KeptSamples& samples = factored ? statistics.factored().kept() : impl_->task;
      const int count = factored ? int(impl_->task_samples) : samples.size();
      ENGRAM_ASSIGN(choice,
                    choose_lambda({impl_->config, *impl_->projection, impl_->scratch, statistics,
                                   samples, samples.size() - count, count, impl_->tasks,
                                   before ? std::optional(before->lambda) : std::nullopt}));
      report.rule = name(impl_->config.lambda_rule);
      if (!factored && impl_->config.lambda_rule == LambdaRule::loo) report.rule = "loo by gcv";
    }
    ENGRAM_ASSIGN(std::shared_ptr<const Readout> solved,
                  impl_->solve_all(choice.lambda, choice.note, choice.factored));
    report.lambda = solved->lambda;
    report.candidates = std::move(choice.candidates);
    report.losses = std::move(choice.losses);
    report.note = std::move(choice.note);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    report.seconds = taken.count();
    return Solution{std::move(solved), std::move(report)};
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left to solve for a readout. What was learned and the "
                  "readout before are kept; close other programs and end the task again.");
  }
}

Status Learner::close_task(std::shared_ptr<const Readout> readout) {
  if (readout != nullptr) ENGRAM_TRY(impl_->publish(std::move(readout)));
  impl_->closed_ids = last_id();
  impl_->task.clear();
  impl_->task_samples = 0;
  ++impl_->tasks;
  return {};
}

Result<ReadoutReport> Learner::end_task(std::optional<double> lambda) {
  ENGRAM_ASSIGN(Solution solution, solve(lambda));
  ENGRAM_TRY(close_task(std::move(solution.readout)));
  return std::move(solution.report);
}

std::shared_ptr<const Readout> Learner::readout() const {
  const std::lock_guard lock(impl_->readout_mutex);
  return impl_->readout;
}

Status Learner::score(MatrixView<const float> features, const Readout& readout,
                      MatrixView<float> scores) {
  const std::lock_guard lock(impl_->score_mutex);
  return impl_->scorer.score(features, readout, scores);
}

Status Learner::classify(MatrixView<const float> features, std::span<Prediction> predictions) {
  ENGRAM_CHECK(std::size_t(features.rows) == predictions.size());
  ENGRAM_TRY(check_features(features, impl_->config.features));
  const std::shared_ptr<const Readout> current = readout();
  if (current == nullptr) {
    std::fill(predictions.begin(), predictions.end(), Prediction{});
    return {};
  }
  const std::lock_guard lock(impl_->score_mutex);
  const int classes = int(current->classes.size());
  const int rows_at_once = batch_rows(impl_->config);
  for (int first = 0; first < features.rows; first += rows_at_once) {
    const int count = std::min(rows_at_once, features.rows - first);
    const MatrixView<float> scores{impl_->scores.as<float>(), count, classes, classes};
    ENGRAM_TRY(impl_->scorer.score(features.row_range(first, count), *current, scores));
    for (int b = 0; b < count; ++b) {
      const float* row = scores.row(b);
      const float* best = std::max_element(row, row + classes);
      predictions[std::size_t(first + b)] = {int(best - row), *best};
    }
  }
  return {};
}

}  // namespace engram
