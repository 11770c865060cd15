#include "engine/lambda_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/gcv.h"
#include "engine/lambda_range.h"
#include "engine/leave_one_out.h"
#include "engine/split_trial.h"
#include "platform/philox.h"

namespace engram {
namespace {

// By leave-one-out or generalised cross-validation over everything learned.
Result<LambdaChoice> choose_by_all(const LambdaProblem& problem) {
  Statistics& statistics = problem.statistics;
  if (statistics.form() == Form::dense) {
    // Only sums are left: leave-one-out is estimated by cross-validation.
    return choose_by_gcv({statistics.kernels(), statistics.dense().gram(),
                          statistics.dense().sums(), statistics.samples(),
                          statistics.largest_eigenvalue()});
  }
  LeaveOneOut trial(statistics.kernels(), statistics.factored().kernel().view(),
                    statistics.factored().kept().classes(), statistics.classes().size());
  LambdaChoice choice = problem.config.lambda_rule == LambdaRule::loo
                            ? choose_by_leave_one_out(trial)
                            : choose_by_kernel_gcv(trial);
  if (choice.factored) choice.dual = trial.take_dual();
  return choice;
}

// A defined lambda where the rule has nothing to choose by.
double fallback(const LambdaProblem& problem, double floor) {
  const double mean_diagonal = problem.statistics.trace() / problem.config.hidden_units();
  const double own =
      mean_diagonal > 0 ? std::pow(10.0, std::round(std::log10(mean_diagonal))) : 1.0;
  return std::clamp(std::max(problem.previous.value_or(own), floor), kSmallestLambda,
                    kLargestLambda);
}

}  // namespace

LambdaChoice without_choice(double lambda, const char* why) {
  LambdaChoice choice;
  choice.lambda = std::clamp(lambda, kSmallestLambda, kLargestLambda);
  choice.note = fmt::format("{}; lambda {:.3g} is used.", why, choice.lambda);
  return choice;
}

std::vector<double> lambda_grid(const LearnerConfig& config) {
  std::vector<double> grid = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1,
                              1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8};
  if (config.arithmetic == Arithmetic::exact) {
    const double unit = double(config.feature_scale) * config.hidden_mul / 65536;
    // Within its decade. By division, not by logarithms: the same bits with every C library.
    double offset = unit * unit;
    while (offset >= 10) offset /= 10;
    while (offset < 1) offset *= 10;
    for (double& lambda : grid) lambda *= offset;
  }
  return grid;
}

std::vector<int> split_order(int count, std::uint64_t seed, int task_index) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) {
    const PhiloxWords words = philox(
        {std::uint32_t(i), std::uint32_t(task_index), 0, std::uint32_t(PhiloxStream::split)}, seed);
    // 64 bits modulo i + 1: the bias is below 2^-32.
    const std::uint64_t draw = std::uint64_t{words[1]} << 32 | words[0];
    std::swap(order[std::size_t(i)], order[std::size_t(draw % std::uint64_t(i + 1))]);
  }
  return order;
}

Result<LambdaChoice> choose_lambda(const LambdaProblem& problem) {
  LambdaChoice choice;
  if (problem.config.lambda_rule == LambdaRule::fixed) {
    choice.lambda = problem.config.lambda;
    return choice;
  }
  if (problem.config.lambda_rule == LambdaRule::loo ||
      problem.config.lambda_rule == LambdaRule::gcv) {
    return choose_by_all(problem);
  }
  const double floor = kFloatFloor * problem.statistics.largest_eigenvalue();
  const int count = problem.task_count;
  if (count < 2) {
    choice.lambda = fallback(problem, floor);
    choice.note = fmt::format("The task has {} and cannot be split 80:20; {} is used.",
                              count == 0 ? "no sample" : "one sample",
                              problem.previous ? "the lambda of the task before"
                                               : "a lambda of the size of G's diagonal");
    return choice;
  }
  const std::vector<int> order = split_order(count, problem.config.split_seed, problem.task_index);
  const int learned = int(0.8 * count);
  ENGRAM_TRY(try_split(problem, order, learned, floor, choice));
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < choice.losses.size(); ++i) {
    if (!(choice.losses[i] < best)) continue;  // also when it is NaN
    best = choice.losses[i];
    choice.lambda = choice.candidates[i];
  }
  if (std::isinf(best)) {
    choice.lambda = fallback(problem, floor);
    choice.note = fmt::format(
        "No candidate up to {:.3g} could be solved in float for features of this size; {:g} is "
        "used.",
        choice.candidates.back(), choice.lambda);
  }
  return choice;
}

}  // namespace engram
