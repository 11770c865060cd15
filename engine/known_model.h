// Is what is seen one of the things that were learned? A few numbers, fitted from examples.
//
//     u = best / sqrt(1 + leverage)      a score in units of its own spread: the predictive
//         or best                        deviation of ridge regression is sigma sqrt(1 + leverage)
//     log-odds of "known" = offset + w_u u + w_m (best - second)
//
// Which u: the best score, unless the other is worth using by the examples (engine/novelty.h). The
// weights: logistic regression; w_u is pulled to 1 and w_m to 0 (in units of the examples'
// deviation) as if by 1 and 20 samples; w_m is 0 where it would be negative or is not worth using.
// P(known) takes known and unknown things to be equally frequent.
//
// "Unknown" is said at a chosen rate of false alarms: below that quantile of the log-odds that known
// things have, from a table of 101 quantiles. The rate is reached, on average, by samples drawn like
// those that were taught; of things that changed since, more are called unknown. Leave-one-out
// scores come from one sample less than the readout has: with few samples it is reached from below.
//
// Without unknown examples, or where they look no less known than the known ones, P(known) is 1,
// the log-odds are u itself, and "unknown" is still said by the table.
#pragma once

#include <array>
#include <span>

#include "engine/score_summary.h"

namespace engram {

struct KnownModel {
  static constexpr int kQuantiles = 101;

  bool informative = false;    // P(known) was fitted
  bool uses_leverage = false;  // u is the first of the two
  float offset = 0, weight = 1, margin_weight = 0;
  std::array<float, kQuantiles> quantiles{};  // of known things' log-odds, 0 %, 1 %, ... 100 %
  // Of the examples: what told them apart, for reports.
  float area = 0.5F;           // under the ROC curve, with these weights
  float area_of_best = 0.5F;   // of the best score alone
  int known = 0, unknown = 0;  // examples

  float log_odds(const ScoreSummary& seen) const;
  double probability(const ScoreSummary& seen) const;  // that it is known
  // Log-odds below this are "unknown". false_alarms in [0, 1].
  float threshold(double false_alarms) const;
};

// known: of readouts without the sample; unknown: without its class. `calibration`: known examples
// for the table of quantiles (the same, or more of them). No known example: a model that calls
// nothing unknown (threshold -infinity).
KnownModel fit_known_model(std::span<const ScoreSummary> known,
                           std::span<const ScoreSummary> unknown,
                           std::span<const ScoreSummary> calibration);

}  // namespace engram
