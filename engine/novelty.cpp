#include "engine/novelty.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace engram {

NoveltyExamples novelty_examples(const LeftOut& left_out) {
  NoveltyExamples examples;
  const auto k = std::size_t(left_out.class_count());
  std::vector<float> scores(k), leverages;
  int present = 0;
  for (int label = 0; label < left_out.class_count(); ++label) {
    present += left_out.members(label).empty() ? 0 : 1;
  }
  for (int i = 0; i < left_out.size(); ++i) {
    const int own = left_out.classes()[std::size_t(i)];
    if (left_out.members(own).size() < 2) continue;
    const float leverage = left_out.leave_one(i, scores);
    examples.known.push_back(summarise(scores, own, leverage));
  }
  if (present < 3) return examples;
  for (int label = 0; label < left_out.class_count(); ++label) {
    const std::span<const int> members = left_out.members(label);
    if (members.empty()) continue;
    scores.resize(members.size() * k);
    leverages.resize(members.size());
    if (!left_out.leave(members, scores, leverages)) continue;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::span<const float> row = std::span(scores).subspan(i * k, k);
      examples.unknown.push_back(summarise(row, -1, leverages[i], label));
    }
  }
  return examples;
}

double area_under_roc(std::span<const float> high, std::span<const float> low) {
  if (high.empty() || low.empty()) return 0.5;
  std::vector<float> sorted(low.begin(), low.end());
  std::sort(sorted.begin(), sorted.end());
  double wins = 0;
  for (const float value : high) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    wins += double(first - sorted.begin()) + 0.5 * double(last - first);
  }
  return wins / (double(high.size()) * double(low.size()));
}

bool worth_using(const NoveltyMeasure& plain, const NoveltyMeasure& other,
                 std::span<const int> groups) {
  ENGRAM_CHECK(plain.unknown.size() == groups.size() && other.unknown.size() == groups.size());
  struct Values {
    std::vector<float> plain, other;
  };
  std::map<int, Values> classes;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Values& values = classes[groups[i]];
    values.plain.push_back(plain.unknown[i]);
    values.other.push_back(other.unknown[i]);
  }
  if (classes.size() < 2) return false;
  double sum = 0, squares = 0;
  for (const auto& [group, values] : classes) {
    const double gain =
        area_under_roc(other.known, values.other) - area_under_roc(plain.known, values.plain);
    sum += gain;
    squares += gain * gain;
  }
  const auto count = double(classes.size());
  const double mean = sum / count;
  const double error = std::sqrt(std::max(0.0, squares / count - mean * mean) / (count - 1));
  return mean >= std::max(kLeastGain, 2 * error);
}

}  // namespace engram
