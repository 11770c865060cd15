#include "engine/answer.h"

#include <algorithm>
#include <numeric>

namespace engram {

std::vector<Answer> best_answers(const Readout& readout, std::span<const float> scores,
                                 float leverage, int top, double false_alarms) {
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + std::clamp<std::ptrdiff_t>(top, 0, std::ssize(order));
  std::partial_sort(order.begin(), middle, order.end(), [&](int a, int b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  const Prediction judged = judge(readout, scores, leverage, false_alarms);
  std::vector<float> probabilities(scores.size());
  readout.confidence.probabilities(scores, leverage, probabilities);
  std::vector<Answer> answers;
  std::for_each(order.begin(), middle, [&](int k) {
    answers.push_back(
        {readout.classes[k], scores[k], probabilities[k], judged.unknown, judged.known});
  });
  return answers;
}

}  // namespace engram
