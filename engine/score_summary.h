// What is remembered of one sample's scores: a few floats, whatever the number of classes.
//
// Such summaries are the examples from which a learner finds out what it knows: scores that a
// readout gave to a sample it had not learned (leave-one-out, leave-class-out, or before learning).
#pragma once

#include <cstdint>
#include <span>

namespace engram {

struct ScoreSummary {
  float best = 0;           // largest score; 0 without classes
  float second = 0;         // second largest; 0 with one class
  float rest_mean = 0;      // of the other scores
  float rest_variance = 0;  // of the other scores
  int classes = 0;          // that had a score
  float own = 0;            // score of the sample's own class, where known
  float leverage = 0;  // h^T (G + lambda I)^-1 h of the readout that scored it; 0: not measured
  bool known = false;  // whether the readout had learned the sample's class
  int group = -1;      // the sample's class, known to the readout or not; -1: not said
  std::int64_t samples =
      0;  // that the readout had learned, where it matters (engine/prequential.h)

  float margin() const { return best - second; }
  bool right() const { return known && own == best; }
  bool operator==(const ScoreSummary&) const = default;
};

// scores (K). own: the sample's class, -1: none of them. left_out: a class that does not count.
ScoreSummary summarise(std::span<const float> scores, int own, float leverage, int left_out = -1);

// log of the sum over classes of exp(beta s), exact for best and second, the rest as a normal
// distribution: exp(beta s) then has the mean exp(beta m + beta^2 v / 2).
double log_sum_exp(const ScoreSummary& summary, double beta);

}  // namespace engram
