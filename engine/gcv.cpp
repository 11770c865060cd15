#include "engine/gcv.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "engine/lambda_range.h"
#include "engine/lambda_search.h"
#include "engine/lanczos.h"
#include "platform/arena.h"
#include "platform/philox.h"

namespace engram {
namespace {

constexpr int kSteps = 8;
constexpr int kProbes = 32;
constexpr int kUnitProbes = 512;  // up to here all unit vectors are taken: df is exact
constexpr int kClassVectors = 128;
constexpr double kFirstPart = 0.25;                    // lambda0 / (tr(G) / N)
constexpr double kSmallestPart = 1e-3;                 // no lambda below this part of tr(G) / N ...
constexpr double kFloatFloor = 1e-6;                   // ... nor of the largest eigenvalue
constexpr int kReach = LambdaSearch::kStepsPerDecade;  // from lambda0, where quadratures are good
constexpr int kRounds = 8;
constexpr double kAsGood = 5e-4;            // of the loss
constexpr double kSmallestResidual = 3e-4;  // RSS / N below is rounding
constexpr double kNull = 1e-3;              // eigenvalues below this part of lambda0 are zeros
constexpr std::uint64_t kSeed = 0x474356;

bool coin(int row, int col) {
  const PhiloxWords words = philox({std::uint32_t(col) / 128, std::uint32_t(row), 0, 0}, kSeed);
  return words[std::size_t(col / 32 % 4)] >> (col % 32) & 1u;
}

// Classes by their rows of C, so that the order in which they came is forgotten.
std::vector<int> classes_in_order(MatrixView<const float> sums) {
  std::vector<int> order(static_cast<std::size_t>(sums.rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::lexicographical_compare(sums.row(a), sums.row(a) + sums.cols, sums.row(b),
                                        sums.row(b) + sums.cols);
  });
  return order;
}

// Start vectors: the first `classes` of C, the rest probes.
struct Starts {
  Arena memory = Arena::empty();
  MatrixView<float> vectors, scratch;
  int classes = 0;
};

Result<Starts> allocate(const GcvProblem& problem) {
  Starts starts;
  const int units = problem.gram.size;
  starts.classes = std::min(problem.sums.rows, kClassVectors);
  const int count = starts.classes + (units <= kUnitProbes ? units : kProbes);
  ENGRAM_ASSIGN(
      starts.memory,
      Arena::create(3 * Arena::bytes_for(std::size_t(count) * std::size_t(units), sizeof(float))));
  starts.vectors = starts.memory.take_matrix<float>(count, units);
  starts.scratch = starts.memory.take_matrix<float>(2 * count, units);
  return starts;
}

void fill(const GcvProblem& problem, Starts& starts) {
  const std::vector<int> order = classes_in_order(problem.sums);
  const int units = problem.gram.size, count = int(order.size());
  for (int v = 0; v < starts.vectors.rows; ++v) {
    float* vector = starts.vectors.row(v);
    std::fill_n(vector, units, 0.0f);
    if (v >= starts.classes) {
      const int probe = v - starts.classes;
      if (units <= kUnitProbes) vector[probe] = 1.0f;
      for (int m = 0; units > kUnitProbes && m < units; ++m) vector[m] = coin(probe, m) ? 1 : -1;
    } else if (count <= kClassVectors) {
      std::copy_n(problem.sums.row(order[std::size_t(v)]), units, vector);
    } else {
      for (int k = 0; k < count; ++k) {
        const float sign = coin(-1 - v, k) ? 1.0f : -1.0f;
        const float* row = problem.sums.row(order[std::size_t(k)]);
        for (int m = 0; m < units; ++m) vector[m] += sign * row[m];
      }
    }
  }
}

// GCV for any lambda, from the quadratures around one.
class Curve {
 public:
  Curve(const GcvProblem& problem, std::vector<Quadrature> rules, int class_vectors, double lambda0)
      : rules_(std::move(rules)),
        class_vectors_(class_vectors),
        samples_(double(problem.samples)),
        units_(problem.gram.size),
        classes_(problem.sums.rows),
        null_(kNull * lambda0) {
    measure_range();
  }

  // False: N - df is the small difference of large numbers, of which random probes say too little.
  bool knows_freedom() const { return units_ <= kUnitProbes || samples_ >= units_ || range_known_; }
  // `inverse_trace`: of (G + lambda0 I)^-1. Then the probes only tell how other lambdas differ.
  void correct_freedom(double lambda0, double inverse_trace) {
    const double exact = samples_ - units_ + lambda0 * inverse_trace;
    correction_ = exact - residual_freedom(lambda0);
  }

  double loss(double lambda) const {
    double explained = 0;
    for (int v = 0; v < class_vectors_; ++v) {
      const Quadrature& rule = rules_[std::size_t(v)];
      for (std::size_t i = 0; i < rule.values.size(); ++i) {
        const double d = rule.values[i], a = d + lambda;
        explained += rule.weights[i] * (d + lambda + lambda) / (a * a);
      }
    }
    // Random sums of all K rows in place of the rows: each has their total in the mean.
    if (classes_ > kClassVectors) explained /= class_vectors_;
    const double rss = (samples_ - explained) / samples_;
    const double left = 1.0 - kFreedomWeight * (1.0 - residual_freedom(lambda) / samples_);
    if (!(rss > kSmallestResidual) || !(left > 0)) return kNoLoss;
    return rss / (left * left) / classes_;
  }

 private:
  // Of N < M samples the range of G has N directions, less when samples repeat.
  void measure_range() {
    for (std::size_t v = std::size_t(class_vectors_); v < rules_.size(); ++v) {
      for (std::size_t i = 0; i < rules_[v].values.size(); ++i) {
        length_ += rules_[v].weights[i];
        if (rules_[v].values[i] > null_) range_ += rules_[v].weights[i];
      }
    }
    const double probes = double(rules_.size()) - class_vectors_;
    const double measured = units_ * range_ / length_;
    // What the share of random vectors in a subspace varies by.
    const double spread = 2.0 * std::sqrt(2.0 * samples_ * (1.0 - samples_ / units_) / probes);
    // Near N = M the smallest values cannot be told from zeros: then far more than N are found.
    range_known_ =
        units_ > kUnitProbes && samples_ < units_ && std::abs(measured - samples_) < spread;
  }

  // N - df = N - M + tr(lambda (G + lambda I)^-1). The M - N directions that no sample has count 1
  // each, but with random probes what they count varies more than all the others together: where
  // the range is known to have N directions, the probes are measured within it.
  double residual_freedom(double lambda) const {
    double left = 0, left_in_range = 0;
    for (std::size_t v = std::size_t(class_vectors_); v < rules_.size(); ++v) {
      for (std::size_t i = 0; i < rules_[v].values.size(); ++i) {
        const double d = rules_[v].values[i], part = rules_[v].weights[i] * lambda / (d + lambda);
        left += part;
        if (d > null_) left_in_range += part;
      }
    }
    if (range_known_) return samples_ * left_in_range / range_;
    return samples_ - units_ + units_ * left / length_ + correction_;
  }

  std::vector<Quadrature> rules_;
  int class_vectors_;
  double samples_;
  int units_, classes_;
  double null_;
  double length_ = 0;  // squared length of all probes
  double range_ = 0;   // ... within the range of G
  bool range_known_ = false;
  double correction_ = 0;
};

// tr((UT U)^-1) of the factor that is there, in the memory of the starts, which are not needed again.
Result<double> inverse_trace(const GcvProblem& problem, const Starts& starts) {
  const int units = problem.gram.size, columns = starts.scratch.rows;
  const MatrixView<float> diagonal = starts.vectors.row_range(0, 1);
  ENGRAM_TRY(problem.kernels.inverse_diagonal(
      Stream{}, problem.gram, {starts.scratch.data, units, columns, columns}, diagonal));
  return std::accumulate(diagonal.data, diagonal.data + units, 0.0);
}

LambdaChoice without_choice(double lambda, const char* why) {
  LambdaChoice choice;
  choice.lambda = std::clamp(lambda, kSmallestLambda, kLargestLambda);
  choice.note = fmt::format("{}; lambda {:.3g} is used.", why, choice.lambda);
  return choice;
}

// Steps of the grid that may be chosen.
struct Range {
  int low, high;
};

// The best step within reach of `from`; `from` itself where nothing is better.
int best_step(const Curve& curve, int from, Range range, LambdaChoice& choice) {
  choice.candidates.clear();
  choice.losses.clear();
  int best = from;
  double smallest = curve.loss(LambdaSearch::lambda_of(from));
  const double own = smallest;
  for (int step = std::max(range.low, from - kReach); step <= std::min(range.high, from + kReach);
       ++step) {
    const double loss = curve.loss(LambdaSearch::lambda_of(step));
    choice.candidates.push_back(LambdaSearch::lambda_of(step));
    choice.losses.push_back(loss);
    if (loss < smallest || (std::isnan(smallest) && !std::isnan(loss))) {
      smallest = loss;
      best = step;
    }
  }
  if (std::isnan(smallest)) return std::min(from + kReach, range.high);  // too small to tell
  return own <= smallest * (1.0 + kAsGood) ? from : best;
}

}  // namespace

Result<LambdaChoice> choose_by_gcv(const GcvProblem& problem) {
  const GramView& gram = problem.gram;
  const double trace = std::accumulate(gram.diagonal, gram.diagonal + gram.size, 0.0);
  if (problem.samples == 0) return without_choice(1.0, "Nothing was learned");
  if (!std::isfinite(trace) || !std::isfinite(problem.largest_eigenvalue)) {
    return without_choice(1.0, "The hidden units are too large for sums in float");
  }
  if (trace <= 0) return without_choice(1.0, "All hidden units are zero");
  const double mean = trace / double(problem.samples);
  const auto step_of = [](double lambda) {
    return LambdaSearch::kStepsPerDecade *
           std::log10(std::clamp(lambda, kSmallestLambda, kLargestLambda));
  };
  Range range{};
  range.low = int(
      std::ceil(step_of(std::max(kSmallestPart * mean, kFloatFloor * problem.largest_eigenvalue))));
  range.high = std::max(range.low, int(std::floor(step_of(10.0 * trace))));

  ENGRAM_ASSIGN(Starts starts, allocate(problem));
  LambdaChoice choice;
  int step = std::clamp(int(std::lround(step_of(kFirstPart * mean))), range.low, range.high);
  for (int round = 0; round < kRounds; ++round) {
    const double lambda0 = LambdaSearch::lambda_of(step);
    if (!problem.kernels.cholesky(Stream{}, float(lambda0), {}, gram).ok()) {
      if (step == range.high) break;
      range.low = std::min(step + 1, range.high);
      step = std::min(step + kReach, range.high);
      continue;
    }
    fill(problem, starts);
    ENGRAM_ASSIGN(
        std::vector<Quadrature> rules,
        shifted_lanczos(problem.kernels, gram, lambda0, kSteps, starts.vectors, starts.scratch));
    Curve curve(problem, std::move(rules), starts.classes, lambda0);
    if (!curve.knows_freedom()) {
      ENGRAM_ASSIGN(const double trace_of_inverse, inverse_trace(problem, starts));
      curve.correct_freedom(lambda0, trace_of_inverse);
    }
    const int best = best_step(curve, step, range, choice);
    choice.lambda = LambdaSearch::lambda_of(best);
    choice.factored = best == step;
    const bool at_reach = std::abs(best - step) == kReach && best > range.low && best < range.high;
    if (!at_reach) return choice;
    step = best;
  }
  if (choice.lambda > 0) return choice;
  return without_choice(mean, "No lambda gave a Cholesky factor of G in float");
}

}  // namespace engram
