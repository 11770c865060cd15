// How well a learner tells what it never saw: some classes are not taught, and then tested.
//
// Classes are held out by a seeded permutation (numpy's, as for class orders). The others are learned
// in tasks; then all test samples are classified. `area` is that under the ROC curve of the log-odds
// of "known", `area_of_best` that of the best score alone.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/confidence.h"
#include "engine/config.h"
#include "engine/protocol.h"
#include "platform/status.h"

namespace engram {

struct OpenSetOptions {
  LearnerConfig config;   // features is taken from the data
  double held_out = 0.3;  // share of the classes, at least one and at most all but one
  double false_alarms = 0.05;
  std::uint32_t seed = 1993;
  int tasks = 1;  // the taught classes in so many tasks, at most one for each
  // Training samples of each class, 0: all. Spread evenly over the class: files that follow one
  // another often show the same thing, and those taught should be like those tested.
  int shots = 0;
};

struct OpenSetResult {
  int taught = 0, held_out = 0;         // classes
  std::int64_t learned = 0;             // samples
  std::int64_t known = 0, unknown = 0;  // test samples
  double area = 0.5, area_of_best = 0.5;
  double false_alarms = 0, detected = 0;  // shares of known and unknown that were called unknown
  double detected_of_best = 0;            // by the best score, at the same share of false alarms
  double accuracy = 0;                    // on the known ones, whether called unknown or not
  // Of the probability of the best label, over all test samples (the unknown are never right), and
  // over the known ones with the probability given that it is known.
  std::vector<ReliabilityBin> reliability, reliability_known;
  double calibration_error = 0, calibration_error_known = 0;
  bool uses_leverage = false;
  double lambda = 0;
  double solve_seconds = 0;
};

// invalid_argument: fewer than two classes, or no test sample of either kind.
Result<OpenSetResult> run_open_set(const ProtocolData& data, const OpenSetOptions& options);

}  // namespace engram
