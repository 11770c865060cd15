#include "engine/open_set.h"

#include <algorithm>
#include <cmath>

#include "engine/learner.h"
#include "engine/metrics.h"
#include "engine/novelty.h"

namespace engram {
namespace {

// Rows of each taught class, at most `shots`.
std::vector<std::vector<int>> rows_to_teach(const ProtocolData& data, int shots) {
  std::vector<std::vector<int>> rows(data.classes.size());
  for (int i = 0; i < data.x_train.rows; ++i) {
    rows[std::size_t(data.y_train[std::size_t(i)])].push_back(i);
  }
  for (std::vector<int>& of_class : rows) {
    const std::size_t all = of_class.size();
    const std::size_t taken = shots > 0 ? std::min(all, std::size_t(shots)) : all;
    for (std::size_t i = 0; i < taken; ++i) of_class[i] = of_class[i * all / taken];
    of_class.resize(taken);
  }
  return rows;
}

// Classes `order` in tasks.
Result<ReadoutReport> teach(const ProtocolData& data, std::span<const int> order, int tasks,
                            int shots, Learner& learner) {
  const std::vector<std::vector<int>> rows = rows_to_teach(data, shots);
  ReadoutReport report;
  const auto count = std::size_t(std::clamp(tasks, 1, int(order.size())));
  for (std::size_t task = 0; task < count; ++task) {
    for (std::size_t i = task * order.size() / count; i < (task + 1) * order.size() / count; ++i) {
      const auto label = std::size_t(order[i]);
      for (const int row : rows[label]) {
        ENGRAM_TRY(learner.learn(data.x_train.row_range(row, 1), {&data.classes[label], 1}));
      }
    }
    ENGRAM_ASSIGN(report, learner.end_task());
  }
  return report;
}

double share(std::int64_t part, std::int64_t all) {
  return all > 0 ? double(part) / double(all) : 0.0;
}

// What was measured on the test samples, taken apart by kind.
struct Measured {
  std::vector<float> odds, best;
  std::int64_t alarms = 0;  // called unknown
};

// The best score below which that share of known things is.
float best_threshold(const std::vector<float>& known_best, double rate) {
  std::vector<float> sorted = known_best;
  std::sort(sorted.begin(), sorted.end());
  const auto at = std::size_t(rate * double(sorted.size() - 1));
  return sorted[at];
}

}  // namespace

Result<OpenSetResult> run_open_set(const ProtocolData& data, const OpenSetOptions& options) {
  const int classes = int(data.classes.size());
  if (classes < 2) {
    return Status(Code::invalid_argument,
                  "Classes to hold out need others to teach: there is only one class.");
  }
  OpenSetResult result;
  result.held_out = std::clamp(int(std::lround(options.held_out * classes)), 1, classes - 1);
  result.taught = classes - result.held_out;
  const std::vector<int> order = NumpyRandom(options.seed).permutation(classes);
  std::vector<bool> taught(static_cast<std::size_t>(classes), true);
  for (int i = 0; i < result.held_out; ++i) taught[std::size_t(order[std::size_t(i)])] = false;

  LearnerConfig config = options.config;
  config.features = data.x_train.cols;
  ENGRAM_ASSIGN(Learner learner, Learner::create(config));
  ENGRAM_ASSIGN(const ReadoutReport report,
                teach(data, std::span(order).subspan(std::size_t(result.held_out)), options.tasks,
                      options.shots, learner));
  const std::shared_ptr<const Readout> readout = learner.readout();
  const KnownModel& known_model = readout->confidence.known;
  result.learned = learner.samples();
  result.lambda = report.lambda;
  result.solve_seconds = report.seconds;
  result.uses_leverage = known_model.uses_leverage;

  Measured known, unknown;
  std::vector<JudgedAnswer> all, given_known;
  std::vector<float> scores(readout->classes.size());
  std::int64_t right = 0;
  for (int i = 0; i < data.x_test.rows; ++i) {
    const auto label = std::size_t(data.y_test[std::size_t(i)]);
    float leverage = 0;
    ENGRAM_TRY(learner.score(data.x_test.row_range(i, 1), *readout,
                             {scores.data(), 1, int(scores.size()), int(scores.size())},
                             {&leverage, 1}));
    const Prediction said = judge(*readout, scores, leverage, options.false_alarms);
    Measured& kind = taught[label] ? known : unknown;
    kind.odds.push_back(known_model.log_odds(summarise(scores, -1, leverage)));
    kind.best.push_back(said.score);
    kind.alarms += said.unknown ? 1 : 0;
    const bool correct =
        taught[label] && readout->classes[std::size_t(said.class_index)] == data.classes[label];
    right += correct ? 1 : 0;
    all.push_back({said.probability, correct});
    const float known_at_all = said.known.value_or(1.0F);
    if (taught[label]) given_known.push_back({said.probability / known_at_all, correct});
  }
  if (known.odds.empty() || unknown.odds.empty()) {
    return Status(Code::invalid_argument,
                  "There is no test sample of a taught class, or none of one held out; choose "
                  "another share or seed.");
  }
  result.known = std::ssize(known.odds);
  result.unknown = std::ssize(unknown.odds);
  result.area = area_under_roc(known.odds, unknown.odds);
  result.area_of_best = area_under_roc(known.best, unknown.best);
  result.false_alarms = share(known.alarms, result.known);
  result.detected = share(unknown.alarms, result.unknown);
  // The best score gets the threshold of the same false alarms on these very samples: a favour.
  const float threshold = best_threshold(known.best, result.false_alarms);
  const auto below = std::count_if(unknown.best.begin(), unknown.best.end(),
                                   [&](float value) { return value < threshold; });
  result.detected_of_best = share(below, result.unknown);
  result.accuracy = share(right, result.known);
  result.reliability = reliability_curve(all);
  result.reliability_known = reliability_curve(given_known);
  result.calibration_error = expected_calibration_error(result.reliability);
  result.calibration_error_known = expected_calibration_error(result.reliability_known);
  return result;
}

}  // namespace engram
