// The end of a task, and what follows from it: readouts, scores, labels.
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/feature_check.h"
#include "engine/lambda_range.h"
#include "engine/lambda_rule.h"
#include "engine/learner_impl.h"
#include "engine/readout_scores.h"
#include "platform/device_staging.h"
#include "platform/steady_time.h"

namespace engram {

Status Learner::Impl::publish(std::shared_ptr<const Readout> next) {
  if (next != nullptr) {
    const std::lock_guard lock(score_mutex);
    ENGRAM_TRY(scores.reserve(sizeof(float) * std::size_t(batch_rows(config)) *
                              (next->classes.size() + 1)));
    said_before = next->said_before;
  }
  ENGRAM_TRY(reserve_said(next.get()));
  const std::lock_guard lock(readout_mutex);
  readout.swap(next);
  return {};
}

Status Learner::Impl::reserve_said(const Readout* current) {
  if (statistics.form() == Form::factored || current == nullptr) return {};
  said_before.reserve();
  return said_scores.reserve(sizeof(float) * std::size_t(scratch.h.rows) *
                             (current->classes.size() + 1));
}

Status Learner::Impl::note_said(const std::byte* rows, MatrixView<const float> h,
                                std::span<const std::int32_t> classes) {
  if (statistics.form() == Form::factored || readout == nullptr) return {};
  const int known = int(readout->classes.size());
  const MatrixView<float> scores{said_scores.as<float>(), h.rows, known, known};
  const std::span<float> leverages(scores.row(h.rows), std::size_t(h.rows));
  const Kernels& kernels = statistics.kernels();
  const MatrixView<const float> f = projection->features_of(rows, h.rows, scratch);
  ENGRAM_TRY(score_samples(kernels, *readout, h, f, scratch.tile, scores));
  std::fill(leverages.begin(), leverages.end(), 0.0F);
  if (readout->probes != nullptr) {
    ENGRAM_TRY(leverages_of(kernels, *readout->probes, h, scratch.products.data, leverages));
  }
  for (int b = 0; b < h.rows; ++b) {
    // By its label: editing may have removed classes since the readout was made.
    const std::string& label =
        statistics.classes().all()[std::size_t(classes[std::size_t(b)])].label;
    const auto found = std::find(readout->classes.begin(), readout->classes.end(), label);
    const int own = found == readout->classes.end() ? -1 : int(found - readout->classes.begin());
    ScoreSummary said =
        summarise({scores.row(b), std::size_t(known)}, own, leverages[std::size_t(b)]);
    said.group = classes[std::size_t(b)];
    said.samples = readout->samples;
    said_before.add(said);
  }
  return {};
}

Result<Learner::Solution> Learner::solve(std::optional<double> lambda) {
  const DeviceHold hold;
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
    ENGRAM_TRY(impl_->statistics.complete());
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
    DeviceHold::let_others();
    ENGRAM_ASSIGN(
        std::shared_ptr<const Readout> solved,
        impl_->solve_all(choice.lambda, choice.note, choice.factored, std::move(choice.dual)));
    report.lambda = solved->lambda;
    report.candidates = std::move(choice.candidates);
    report.losses = std::move(choice.losses);
    report.note = std::move(choice.note);
    if (const std::string rounding = rounding_note(); !rounding.empty()) {
      report.note += (report.note.empty() ? "" : " ") + rounding;
    }
    report.seconds = seconds_since(start);
    return Solution{std::move(solved), std::move(report)};
  } catch (const std::bad_alloc&) {
    return Status(Code::out_of_memory,
                  "The machine has no memory left to solve for a readout. What was learned and the "
                  "readout before are kept; close other programs and end the task again.");
  }
}

Status Learner::close_task(std::shared_ptr<const Readout> readout) {
  const DeviceHold hold;
  if (readout != nullptr) ENGRAM_TRY(impl_->publish(std::move(readout)));
  impl_->closed_ids = last_id();
  impl_->task.clear();
  impl_->witnesses.clear();  // replaying, nobody has heard them
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
  const DeviceHold hold;
  const std::lock_guard lock(impl_->score_mutex);
  return impl_->scorer.score(features, readout, scores);
}

Status Learner::score(MatrixView<const float> features, const Readout& readout,
                      MatrixView<float> scores, std::span<float> leverages) {
  const DeviceHold hold;
  const std::lock_guard lock(impl_->score_mutex);
  return impl_->scorer.score(features, readout, scores, leverages);
}

Status Learner::classify(MatrixView<const float> features, std::span<Prediction> predictions,
                         double false_alarms) {
  const DeviceHold hold;
  ENGRAM_CHECK(std::size_t(features.rows) == predictions.size());
  const std::shared_ptr<const Readout> current = readout();
  if (current == nullptr) {
    ENGRAM_TRY(check_features(features, impl_->config.features));
    std::fill(predictions.begin(), predictions.end(), Prediction{});
    return {};
  }
  const std::lock_guard lock(impl_->score_mutex);
  const int classes = int(current->classes.size());
  const int rows_at_once = batch_rows(impl_->config);
  for (int first = 0; first < features.rows; first += rows_at_once) {
    const int count = std::min(rows_at_once, features.rows - first);
    const MatrixView<float> scores{impl_->scores.as<float>(), count, classes, classes};
    const std::span<float> leverages(scores.row(count), std::size_t(count));
    const Status scored =
        impl_->scorer.score(features.row_range(first, count), *current, scores, leverages);
    if (scored.code() == Code::bad_data) {  // with the number of the row among all of them
      ENGRAM_TRY(check_features(features, impl_->config.features));
    }
    ENGRAM_TRY(scored);
    for (int b = 0; b < count; ++b) {
      predictions[std::size_t(first + b)] = judge(*current, {scores.row(b), std::size_t(classes)},
                                                  leverages[std::size_t(b)], false_alarms);
    }
  }
  return {};
}

}  // namespace engram
