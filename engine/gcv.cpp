#include "engine/gcv.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/gcv_curve.h"
#include "engine/lambda_range.h"
#include "kernels/kernels.h"

namespace engram {
namespace {

constexpr int kStepsPerDecade = 80;
constexpr double kFirstPart = 0.35;     // of tr(G) / N, where lambda is found with photos
constexpr double kSmallestPart = 1e-3;  // no lambda below this part of tr(G) / N, nor kFloatFloor
constexpr int kRounds = 8;
constexpr double kAsGood = 4e-4;       // of the loss
constexpr double kSureEnough = 0.005;  // standard error of the loss that matters too little
constexpr int kAlone = 512;            // up to so many hidden units no part of them is asked first
// Decades that lambda / (tr(G) / N) moves from M/4 to M/2, and of what it did the part from M/2 to M.
constexpr double kUsualMove = -0.15, kNextMove = 0.9, kLongestGcvMove = 0.5;

// Lanczos steps of classes and of probes, and how far from lambda0 the quadratures are good then. The
// logarithm of the probes is harder than what GCV is made of.
struct Effort {
  int class_steps, probe_steps, reach;
};
constexpr Effort kEfforts[] = {{3, 5, 16}, {5, 8, 40}, {8, 10, kStepsPerDecade}};
constexpr int kNear = 0, kMiddle = 1, kFar = 2;

double lambda_of(int step) {
  return std::pow(10.0, double(step) / kStepsPerDecade);
}

double step_of(double lambda) {
  return kStepsPerDecade * std::log10(std::clamp(lambda, kSmallestLambda, kLargestLambda));
}

// The first `units` hidden units alone: the leading block of G, in place.
GcvProblem leading(const GcvProblem& problem, int units) {
  GcvProblem part = problem;
  part.gram.size = units;
  part.sums.cols = units;
  part.largest_eigenvalue *= double(units) / problem.gram.size;
  return part;
}

double mean_of(const GcvProblem& problem) {
  return std::accumulate(problem.gram.diagonal, problem.gram.diagonal + problem.gram.size, 0.0) /
         double(problem.samples);
}

// Steps of the grid that may be chosen.
struct Range {
  int low, high;
};

Range range_of(const GcvProblem& problem) {
  const double mean = mean_of(problem);
  Range range{};
  range.low = int(
      std::ceil(step_of(std::max(kSmallestPart * mean, kFloatFloor * problem.largest_eigenvalue))));
  range.high = std::max(range.low, int(std::floor(step_of(10.0 * mean * double(problem.samples)))));
  return range;
}

// The best step within reach of `from`; `from` itself where nothing is better by more than `as_good`.
int best_step(const GcvCurve& curve, int from, int reach, Range range, double as_good,
              LambdaChoice& choice) {
  choice.candidates.clear();
  choice.losses.clear();
  int best = from;
  double smallest = curve.loss(lambda_of(from));
  const double own = smallest;
  for (int step = std::max(range.low, from - reach); step <= std::min(range.high, from + reach);
       ++step) {
    const double loss = curve.loss(lambda_of(step));
    choice.candidates.push_back(lambda_of(step));
    choice.losses.push_back(loss);
    if (loss < smallest || (std::isnan(smallest) && !std::isnan(loss))) {
      smallest = loss;
      best = step;
    }
  }
  if (std::isnan(smallest)) return std::min(from + reach, range.high);  // too small to tell
  return own <= smallest * (1.0 + as_good) ? from : best;
}

class Search {
 public:
  Search(const GcvStarts& starts, std::vector<int> order)
      : starts_(starts), order_(std::move(order)) {}

  // From lambda0 = start on, which `effort` should be enough for. A choice with lambda 0: there is no
  // factor at any.
  Result<LambdaChoice> run(const GcvProblem& problem, double start, int effort, double as_good) {
    Range range = range_of(problem);
    LambdaChoice choice;
    int step = std::clamp(int(std::lround(step_of(start))), range.low, range.high);
    for (int round = 0; round < kRounds; ++round) {
      if (!problem.kernels.cholesky(Stream{}, float(lambda_of(step)), {}, problem.gram).ok()) {
        if (step == range.high) break;
        range.low = std::min(step + 1, range.high);
        step = std::min(step + kStepsPerDecade, range.high);
        continue;
      }
      ENGRAM_ASSIGN(const int best, look(problem, step, range, effort, as_good, choice));
      choice.lambda = lambda_of(best);
      choice.factored = best == step;
      const bool at_reach =
          std::abs(best - step) == kEfforts[kFar].reach && best > range.low && best < range.high;
      if (!at_reach) break;
      step = best;
    }
    return choice;
  }

 private:
  // With the factor at this step: as many Lanczos steps as it takes to see a minimum.
  Result<int> look(const GcvProblem& problem, int step, Range range, int effort, double as_good,
                   LambdaChoice& choice) {
    const double lambda0 = lambda_of(step);
    ShiftedLanczos lanczos = starts_.begin(problem, order_, lambda0);
    const int classes = starts_.classes(), probes = starts_.probes();
    std::optional<double> trace;
    for (;; ++effort) {
      const auto [class_steps, probe_steps, reach] = kEfforts[effort];
      // In one solve while they have had as many steps.
      const int both = lanczos.steps(0) == lanczos.steps(classes) ? classes + probes : classes;
      ENGRAM_TRY(lanczos.advance(0, both, class_steps - lanczos.steps(0)));
      ENGRAM_TRY(lanczos.advance(classes, probes, probe_steps - lanczos.steps(classes)));
      ENGRAM_ASSIGN(GcvCurve curve, GcvCurve::create(problem, lambda0, starts_, lanczos));
      if (!trace && curve.uncertainty() > kSureEnough) {
        ENGRAM_ASSIGN(trace, inverse_trace(problem));
      }
      if (trace) curve.correct_freedom(*trace);
      const int best = best_step(curve, step, reach, range, as_good, choice);
      const bool inside = std::abs(best - step) < reach || best == range.low || best == range.high;
      if (inside || effort == kFar) return best;
    }
  }

  const GcvStarts& starts_;
  std::vector<int> order_;
};

}  // namespace

Result<LambdaChoice> choose_by_gcv(const GcvProblem& problem) {
  const GramView& gram = problem.gram;
  if (problem.samples == 0) return without_choice(1.0, "Nothing was learned");
  const double mean = mean_of(problem);
  if (!std::isfinite(mean) || !std::isfinite(problem.largest_eigenvalue)) {
    return without_choice(1.0, "The hidden units are too large for sums in float");
  }
  if (mean <= 0) return without_choice(1.0, "All hidden units are zero");

  ENGRAM_ASSIGN(GcvStarts starts, GcvStarts::create(problem));
  Search search(starts, classes_by_content(problem.sums));
  // Where lambda is found, in decades from tr(G) / N: what a part says moves on as it grows.
  double place = std::log10(kFirstPart), move = kUsualMove;
  int effort = gram.size > kAlone ? kMiddle : kFar;
  if (gram.size > kAlone) {
    for (const int divisor : {4, 2}) {
      const GcvProblem part = leading(problem, gram.size / divisor);
      const double part_mean = mean_of(part);
      if (!(part_mean > 0)) break;
      ENGRAM_ASSIGN(const LambdaChoice found,
                    search.run(part, part_mean * std::pow(10.0, place), effort, 0.0));
      if (!(found.lambda > 0)) break;
      const double seen = std::log10(found.lambda / part_mean);
      if (divisor == 2) {
        move = std::clamp(kNextMove * (seen - place + move), -kLongestGcvMove, kLongestGcvMove);
      }
      place = seen + move;
      effort = kNear;
    }
  }
  ENGRAM_ASSIGN(LambdaChoice choice,
                search.run(problem, mean * std::pow(10.0, place), effort, kAsGood));
  if (choice.lambda > 0) return choice;
  return without_choice(mean, "No lambda gave a Cholesky factor of G in float");
}

}  // namespace engram
