// What the protocols count with: orders, task sizes, accuracy matrix, means and deviations.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "platform/status.h"

namespace engram {

// numpy's RandomState: MT19937 seeded by one 32-bit number, and the permutation made from it by
// numpy's legacy shuffle. The authors' class orders are made so; ours are the same numbers.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);
  std::vector<int> permutation(int count);
  double uniform();  // RandomState.random_sample(): 53 bits in [0, 1)

 private:
  std::uint32_t below_or_equal(std::uint32_t max);
  std::mt19937 words_;
};

// `tasks` parts of `classes` that differ by at most one, the larger ones first.
Result<std::vector<int>> equal_task_sizes(int classes, int tasks);
// [first, increment, increment, ...] and the rest last: the authors' sizes.
Result<std::vector<int>> growing_task_sizes(int classes, int first, int increment);

// r[t][i]: accuracy on task i after task t, i <= t; NaN entries (no test sample) do not count.
double average_accuracy(std::span<const std::vector<double>> r, int t);
// Mean over i < t of (best accuracy on task i before t) - (accuracy on it at t); 0 at t = 0.
double average_forgetting(std::span<const std::vector<double>> r, int t);

// Mean over the classes that have a sample of the accuracy in % on each; NaN: there is none.
// right[k] of all[k] samples of class k were answered right.
double balanced_accuracy(std::span<const std::int64_t> right, std::span<const std::int64_t> all);

struct MeanDeviation {
  double mean = 0;
  double deviation = 0;  // of the sample (n - 1); 0 for one value
};
MeanDeviation mean_deviation(std::span<const double> values);

}  // namespace engram
