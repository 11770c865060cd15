#include "engine/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace engram {

NumpyRandom::NumpyRandom(std::uint32_t seed) : words_(seed) {}

std::vector<int> NumpyRandom::permutation(int count) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) {
    std::swap(order[i], order[below_or_equal(std::uint32_t(i))]);
  }
  return order;
}

double NumpyRandom::uniform() {
  const std::uint32_t high = std::uint32_t(words_()) >> 5, low = std::uint32_t(words_()) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

// Uniform in 0..max: draws of as many bits as max has, until one is not above it.
std::uint32_t NumpyRandom::below_or_equal(std::uint32_t max) {
  std::uint32_t mask = max;
  for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  std::uint32_t value = 0;
  do {
    value = std::uint32_t(words_()) & mask;
  } while (value > max);
  return value;
}

Result<std::vector<int>> equal_task_sizes(int classes, int tasks) {
  if (tasks < 1 || tasks > classes) {
    return Status(
        Code::invalid_argument,
        fmt::format("{} tasks of {} classes cannot be made: every task needs at least one "
                    "class.",
                    tasks, classes));
  }
  std::vector<int> sizes(std::size_t(tasks), classes / tasks);
  for (int t = 0; t < classes % tasks; ++t) ++sizes[t];
  return sizes;
}

Result<std::vector<int>> growing_task_sizes(int classes, int first, int increment) {
  if (first < 1 || first > classes || (first < classes && increment < 1)) {
    return Status(
        Code::invalid_argument,
        fmt::format("A first task of {} and then {} classes cannot be made of {} classes.", first,
                    increment, classes));
  }
  std::vector<int> sizes{first};
  for (int left = classes - first; left > 0; left -= sizes.back()) {
    sizes.push_back(std::min(left, increment));
  }
  return sizes;
}

double average_accuracy(std::span<const std::vector<double>> r, int t) {
  double sum = 0;
  int counted = 0;
  for (const double accuracy : r[t]) {
    if (std::isnan(accuracy)) continue;
    sum += accuracy;
    ++counted;
  }
  return counted == 0 ? std::nan("") : sum / counted;
}

double average_forgetting(std::span<const std::vector<double>> r, int t) {
  double sum = 0;
  int counted = 0;
  for (int i = 0; i < t; ++i) {
    if (std::isnan(r[t][i])) continue;  // a task without test samples has none at any time
    double best = r[i][i];
    for (int before = i + 1; before < t; ++before) best = std::max(best, r[before][i]);
    sum += best - r[t][i];
    ++counted;
  }
  return counted == 0 ? 0.0 : sum / counted;
}

double balanced_accuracy(std::span<const std::int64_t> right, std::span<const std::int64_t> all) {
  double sum = 0;
  int counted = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k] == 0) continue;
    sum += 100.0 * double(right[k]) / double(all[k]);
    ++counted;
  }
  return counted == 0 ? std::nan("") : sum / counted;
}

MeanDeviation mean_deviation(std::span<const double> values) {
  MeanDeviation result;
  const auto count = double(values.size());
  for (const double value : values) result.mean += value / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

}  // namespace engram
