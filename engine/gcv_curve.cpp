#include "engine/gcv_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/gcv.h"
#include "kernels/kernels.h"
#include "platform/philox.h"

namespace engram {
namespace {

constexpr int kGcvProbes = 24;
constexpr int kMoreProbes = 64;   // while they are cheap
constexpr int kManyUnits = 2000;  // from here on
constexpr int kUnitProbes = 512;  // up to here all unit vectors are taken: df is exact
constexpr int kClassVectors = 128;
constexpr int kInverseColumns = 128;        // of the inverse at a time
constexpr double kSmallestResidual = 3e-4;  // RSS / N below is rounding
constexpr std::uint64_t kGcvSeed = 0x474356;

bool coin(int row, int col) {
  const PhiloxWords words = philox({std::uint32_t(col) / 128, std::uint32_t(row), 0, 0}, kGcvSeed);
  return words[std::size_t(col / 32 % 4)] >> (col % 32) & 1u;
}

void fill_classes(const GcvProblem& problem, const std::vector<int>& order,
                  MatrixView<float> vectors) {
  const int units = problem.gram.size, count = int(order.size());
  for (int v = 0; v < vectors.rows; ++v) {
    if (count <= kClassVectors) {
      std::copy_n(problem.sums.row(order[std::size_t(v)]), units, vectors.row(v));
      continue;
    }
    std::fill_n(vectors.row(v), units, 0.0f);
    for (int k = 0; k < count; ++k) {
      const float sign = coin(-1 - v, k) ? 1.0f : -1.0f;
      const float* row = problem.sums.row(order[std::size_t(k)]);
      for (int m = 0; m < units; ++m) vectors(v, m) += sign * row[m];
    }
  }
}

void fill_probes(bool exact, MatrixView<float> vectors) {
  for (int v = 0; v < vectors.rows; ++v) {
    for (int m = 0; m < vectors.cols; ++m) {
      vectors(v, m) = exact ? float(v == m) : coin(v, m) ? 1.0f : -1.0f;
    }
  }
}

}  // namespace

std::vector<int> classes_by_content(MatrixView<const float> sums) {
  std::vector<int> order(static_cast<std::size_t>(sums.rows));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::lexicographical_compare(sums.row(a), sums.row(a) + sums.cols, sums.row(b),
                                        sums.row(b) + sums.cols);
  });
  return order;
}

int GcvStarts::vectors(int classes, int units) {
  const int probes = units <= kUnitProbes ? units : units < kManyUnits ? kMoreProbes : kGcvProbes;
  return std::min(classes, kClassVectors) + probes;
}

Result<GcvStarts> GcvStarts::create(const GcvProblem& largest) {
  GcvStarts starts;
  const int units = largest.gram.size;
  starts.exact_ = units <= kUnitProbes;
  starts.classes_ = std::min(largest.sums.rows, kClassVectors);
  const int count = vectors(starts.classes_, units);
  starts.probes_ = count - starts.classes_;
  const std::size_t size = std::size_t(count) * std::size_t(units);
  ENGRAM_ASSIGN(starts.memory_, Arena::create(Arena::bytes_for(size, sizeof(float)) +
                                              Arena::bytes_for(2 * size, sizeof(float))));
  starts.vectors_ = starts.memory_.take<float>(size);
  starts.scratch_ = starts.memory_.take<float>(2 * size);
  return starts;
}

ShiftedLanczos GcvStarts::begin(const GcvProblem& problem, const std::vector<int>& order,
                                double lambda0) const {
  const int units = problem.gram.size, count = classes_ + probes_;
  const MatrixView<float> vectors{vectors_, count, units, units};
  fill_classes(problem, order, vectors.row_range(0, classes_));
  fill_probes(exact_, vectors.row_range(classes_, probes_));
  return ShiftedLanczos(problem.kernels, problem.gram, lambda0, vectors,
                        {scratch_, 2 * count, units, units});
}

Result<GcvCurve> GcvCurve::create(const GcvProblem& problem, double lambda0,
                                  const GcvStarts& starts, const ShiftedLanczos& lanczos) {
  std::vector<Quadrature> classes, probes;
  for (int v = 0; v < starts.classes() + starts.probes(); ++v) {
    ENGRAM_ASSIGN(Quadrature rule, lanczos.quadrature(v));
    (v < starts.classes() ? classes : probes).push_back(std::move(rule));
  }
  return GcvCurve(problem, lambda0, starts, std::move(classes), probes);
}

GcvCurve::GcvCurve(const GcvProblem& problem, double lambda0, const GcvStarts& starts,
                   std::vector<Quadrature> classes, const std::vector<Quadrature>& probes)
    : lambda0_(lambda0),
      samples_(double(problem.samples)),
      units_(problem.gram.size),
      classes_(problem.sums.rows),
      class_vectors_(int(classes.size())),
      probe_vectors_(int(probes.size())),
      class_rules_(std::move(classes)),
      exact_(starts.exact()) {
  double length = 0;
  for (const Quadrature& rule : probes) {
    length = std::accumulate(rule.weights.begin(), rule.weights.end(), length);
  }
  double logs = 0;
  for (const Quadrature& rule : probes) {
    for (std::size_t i = 0; i < rule.values.size(); ++i) {
      const double weight = rule.weights[i] * units_ / length;
      nodes_.push_back({rule.values[i], weight, std::log1p(rule.values[i] / lambda0)});
      logs += weight * nodes_.back().log;
    }
  }
  mean_log_ = logs / units_;
  double known = -units_ * std::log(lambda0);
  for (int m = 0; m < units_; ++m) known += 2.0 * std::log(double(problem.gram.row(m)[m]));
  log_excess_ = known - logs;
}

GcvCurve::Fit GcvCurve::fit(double lambda) const {
  Fit fit{};
  for (const Node& node : nodes_) fit.mean += node.weight * lambda / (node.value + lambda);
  fit.mean /= units_;
  double both = 0, logs = 0, squares = 0;
  for (const Node& node : nodes_) {
    const double f = lambda / (node.value + lambda) - fit.mean, g = node.log - mean_log_;
    both += node.weight * f * g;
    logs += node.weight * g * g;
    squares += node.weight * f * f;
  }
  fit.slope = logs > 0 ? both / logs : 0.0;
  fit.remainder = std::max(0.0, squares - fit.slope * both) / units_;
  return fit;
}

double GcvCurve::residual_freedom(double lambda) const {
  const Fit found = fit(lambda);
  const double measured = samples_ - units_ + units_ * found.mean;
  return exact_ ? measured : measured + found.slope * log_excess_ + correction_;
}

double GcvCurve::left(double freedom) const {
  return 1.0 - kFreedomWeight * (1.0 - freedom / samples_);
}

double GcvCurve::uncertainty() const {
  if (exact_) return 0;
  // Of one vector of +-1 the variance of vT B v is 2 |B|^2, less what the diagonal has.
  const double deviation =
      std::sqrt(2.0 * units_ * fit(lambda0_).remainder / std::max(1, probe_vectors_));
  return 2.0 * kFreedomWeight * deviation / samples_ / left(residual_freedom(lambda0_));
}

void GcvCurve::correct_freedom(double inverse_trace) {
  const double exact = samples_ - units_ + lambda0_ * inverse_trace;
  correction_ += exact - residual_freedom(lambda0_);
}

double GcvCurve::loss(double lambda) const {
  double explained = 0;
  for (const Quadrature& rule : class_rules_) {
    for (std::size_t i = 0; i < rule.values.size(); ++i) {
      const double d = rule.values[i], a = d + lambda;
      explained += rule.weights[i] * (d + lambda + lambda) / (a * a);
    }
  }
  // Random sums of all K rows in place of the rows: each has their total in the mean.
  if (classes_ > kClassVectors) explained /= class_vectors_;
  const double rss = (samples_ - explained) / samples_;
  const double freedom = left(residual_freedom(lambda));
  if (!(rss > kSmallestResidual) || !(freedom > 0)) return kNoLoss;
  return rss / (freedom * freedom) / classes_;
}

Result<double> inverse_trace(const GcvProblem& problem) {
  const int units = problem.gram.size;
  const std::size_t size = std::size_t(units) * kInverseColumns;
  ENGRAM_ASSIGN(Arena memory, Arena::create(Arena::bytes_for(size, sizeof(float)) +
                                            Arena::bytes_for(std::size_t(units), sizeof(float))));
  const MatrixView<float> scratch = memory.take_matrix<float>(units, kInverseColumns);
  const MatrixView<float> diagonal = memory.take_matrix<float>(1, units);
  ENGRAM_TRY(problem.kernels.inverse_diagonal(Stream{}, problem.gram, scratch, diagonal));
  return std::accumulate(diagonal.data, diagonal.data + units, 0.0);
}

}  // namespace engram
