#include "engine/judgement.h"

#include <algorithm>
#include <cmath>

namespace engram {

Prediction judge(const Readout& readout, std::span<const float> scores, float leverage,
                 double false_alarms) {
  Prediction prediction;
  if (scores.empty()) return prediction;
  const Confidence& confidence = readout.confidence;
  const ScoreSummary seen = summarise(scores, -1, leverage);
  const auto best = std::max_element(scores.begin(), scores.end());
  prediction.class_index = int(best - scores.begin());
  prediction.score = *best;
  double sum = 0;
  for (const float score : scores) sum += std::exp(double(confidence.beta) * (score - *best));
  const double known = confidence.known.probability(seen);
  if (confidence.known.informative) prediction.known = float(known);
  prediction.probability = float(known / sum);
  prediction.unknown = confidence.known.log_odds(seen) < confidence.known.threshold(false_alarms);
  return prediction;
}

}  // namespace engram
