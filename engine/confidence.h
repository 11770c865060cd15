// Scores to probabilities, and whether probabilities are true.
//
//     P(class k) = P(known) exp(beta s_k) / sum over classes of exp(beta s)
//
// beta maximises the likelihood of samples that the readout had not learned (leave-one-out, or
// before learning). P(known): engine/known_model.h.
#pragma once

#include <span>
#include <vector>

#include "engine/known_model.h"
#include "engine/score_summary.h"

namespace engram {

struct Confidence {
  // Where nothing could be fitted: scores near 1 and 0 as they are for a few well kept apart
  // classes; 0.9 against 0.1 gives odds of 55.
  static constexpr float kUsualBeta = 5.0F;

  float beta = kUsualBeta;
  bool fitted = false;  // beta and the table of the known model are from examples
  KnownModel known{};

  // Probability of each class, (K).
  void probabilities(std::span<const float> scores, float leverage, std::span<float> out) const;
};

// known and unknown as in fit_known_model; `calibration`: known examples, all that there are.
Confidence fit_confidence(std::span<const ScoreSummary> known,
                          std::span<const ScoreSummary> unknown,
                          std::span<const ScoreSummary> calibration);

// The beta in 0.1..1000 of the largest likelihood of each example's own class; kUsualBeta when no
// example is known or when scores say nothing.
float fit_beta(std::span<const ScoreSummary> known);

struct JudgedAnswer {
  float confidence = 0;  // the probability that was given to the answer
  bool right = false;
};
// Answers by confidence: in bin i of n those between i / n and (i + 1) / n.
struct ReliabilityBin {
  double confidence = 0;  // mean; 0 when empty
  double accuracy = 0;    // share of right ones; 0 when empty
  int count = 0;
};
std::vector<ReliabilityBin> reliability_curve(std::span<const JudgedAnswer> answers, int bins = 10);
// Mean distance between confidence and accuracy, weighted by count. 0 for nothing.
double expected_calibration_error(std::span<const ReliabilityBin> bins);

}  // namespace engram
