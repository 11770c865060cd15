#include "engine/score_summary.h"

#include <algorithm>
#include <cmath>

namespace engram {

ScoreSummary summarise(std::span<const float> scores, int own, float leverage, int left_out) {
  int best = -1, second = -1, count = 0;
  double sum = 0;
  for (int k = 0; k < int(scores.size()); ++k) {
    if (k == left_out) continue;
    const float score = scores[std::size_t(k)];
    ++count;
    sum += score;
    if (best < 0 || score > scores[std::size_t(best)]) {
      second = best;
      best = k;
    } else if (second < 0 || score > scores[std::size_t(second)]) {
      second = k;
    }
  }
  ScoreSummary summary;
  summary.leverage = leverage;
  summary.known = own >= 0 && own != left_out;
  summary.group = left_out >= 0 ? left_out : own;
  if (best < 0) return summary;
  summary.best = scores[std::size_t(best)];
  if (second >= 0) summary.second = scores[std::size_t(second)];
  if (summary.known) summary.own = scores[std::size_t(own)];
  summary.classes = count;
  if (count <= 2) return summary;
  const double mean = (sum - summary.best - summary.second) / (count - 2);
  double squares = 0;
  for (int k = 0; k < int(scores.size()); ++k) {
    if (k == left_out || k == best || k == second) continue;
    squares += (scores[std::size_t(k)] - mean) * (scores[std::size_t(k)] - mean);
  }
  summary.rest_mean = float(mean);
  summary.rest_variance = float(squares / (count - 2));
  return summary;
}

double log_sum_exp(const ScoreSummary& summary, double beta) {
  // Everything relative to the best, so that no power overflows. No score of the rest exceeds the
  // second best, so neither may the rest's mean power.
  double sum = 1.0;
  const double second = beta * (double(summary.second) - summary.best);
  if (summary.classes > 1) sum += std::exp(second);
  if (summary.classes > 2) {
    const double rest = beta * (double(summary.rest_mean) - summary.best) +
                        0.5 * beta * beta * summary.rest_variance;
    sum += (summary.classes - 2) * std::exp(std::min(rest, second));
  }
  return beta * summary.best + std::log(sum);
}

}  // namespace engram
