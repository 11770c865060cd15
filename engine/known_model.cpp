#include "engine/known_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/novelty.h"

namespace engram {
namespace {

constexpr double kLeastArea = 0.55;  // below it the examples say nothing

float deviation_score(const ScoreSummary& seen) {
  return float(seen.best / std::sqrt(1.0 + seen.leverage));
}

std::vector<float> values(std::span<const ScoreSummary> examples, bool with_leverage) {
  std::vector<float> result;
  for (const ScoreSummary& one : examples) {
    result.push_back(with_leverage ? deviation_score(one) : one.best);
  }
  return result;
}

// By median and quartiles, and cut at three deviations: a duplicate's leverage is a thousandth of
// any other's, and must not decide the scale.
struct Scale {
  double median = 0, deviation = 1;
  double operator()(double value) const {
    return std::clamp((value - median) / deviation, -3.0, 3.0);
  }
};
Scale scale_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const auto quantile = [&](double share) {
    return numbers[std::size_t(share * double(numbers.size() - 1))];
  };
  Scale scale;
  scale.median = quantile(0.5);
  scale.deviation = std::max((quantile(0.75) - quantile(0.25)) / 1.349, 1e-9);
  return scale;
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-std::clamp(x, -40.0, 40.0)));
}

struct Logistic {
  double offset = 0, u = 1, margin = 0;
};

// Newton on the penalised log-likelihood; concave, three unknowns. `rows` (u, margin), scaled; the
// first `known` are known. Targets of n examples are kept 1 / (n + 2) away from 0 and 1 (Platt).
Logistic fit(const std::vector<std::array<double, 2>>& rows, std::size_t known, bool with_margin) {
  const auto n1 = double(known), n0 = double(rows.size() - known);
  const std::array<double, 3> penalty{1e-6, 1.0, with_margin ? 20.0 : 1e12};
  const std::array<double, 3> prior{0, 1, 0};
  std::array<double, 3> b{0, 1, 0};
  for (int step = 0; step < 50; ++step) {
    std::array<double, 3> gradient{};
    std::array<std::array<double, 3>, 3> hessian{};
    for (std::size_t i = 0; i < 3; ++i) {
      gradient[i] = penalty[i] * (prior[i] - b[i]);
      hessian[i][i] = penalty[i];
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::array<double, 3> x{1.0, rows[r][0], rows[r][1]};
      const double p = sigmoid(b[0] + b[1] * x[1] + b[2] * x[2]);
      const double target = r < known ? (n1 + 1) / (n1 + 2) : 1 / (n0 + 2);
      for (std::size_t i = 0; i < 3; ++i) {
        gradient[i] += (target - p) * x[i];
        for (std::size_t j = 0; j < 3; ++j) hessian[i][j] += p * (1 - p) * x[i] * x[j];
      }
    }
    // Gauss without pivoting: the matrix is positive definite.
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t r = i + 1; r < 3; ++r) {
        const double factor = hessian[r][i] / hessian[i][i];
        for (std::size_t c = i; c < 3; ++c) hessian[r][c] -= factor * hessian[i][c];
        gradient[r] -= factor * gradient[i];
      }
    }
    double moved = 0;
    std::array<double, 3> change{};
    for (std::size_t i = 3; i-- > 0;) {
      change[i] = gradient[i];
      for (std::size_t j = i + 1; j < 3; ++j) change[i] -= hessian[i][j] * change[j];
      change[i] /= hessian[i][i];
      moved = std::max(moved, std::abs(change[i]));
    }
    // A step of more than 2 leaves the region where the quadratic model holds.
    const double shorten = moved > 2.0 ? 2.0 / moved : 1.0;
    for (std::size_t i = 0; i < 3; ++i) b[i] += shorten * change[i];
    if (moved < 1e-9) break;
  }
  return {b[0], b[1], b[2]};
}

std::vector<int> groups_of(std::span<const ScoreSummary> examples) {
  std::vector<int> groups;
  for (const ScoreSummary& one : examples) groups.push_back(one.group);
  return groups;
}

std::vector<float> all_log_odds(const KnownModel& model, std::span<const ScoreSummary> examples) {
  std::vector<float> result;
  for (const ScoreSummary& one : examples) result.push_back(model.log_odds(one));
  return result;
}

NoveltyMeasure measure(const KnownModel& model, std::span<const ScoreSummary> known,
                       std::span<const ScoreSummary> unknown) {
  return {all_log_odds(model, known), all_log_odds(model, unknown)};
}

// At the share `rate` of known things, from n examples in ascending order. A new one is below the
// k-th smallest with probability k / (n + 1), so k = rate (n + 1). Beyond the first and the last
// example the table goes on by the distance to the median: at 0 hardly anything is below.
float quantile(const std::vector<float>& sorted, double rate) {
  const auto last = double(sorted.size() - 1);
  const double at = rate * double(sorted.size() + 1) - 1.0;
  const double median = sorted[sorted.size() / 2];
  if (at < 0) return float(sorted.front() + at * (median - sorted.front()));
  if (at > last) return float(sorted.back() + (at - last) * (sorted.back() - median));
  const auto below = std::size_t(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - double(below);
  return float((1 - part) * sorted[below] + part * sorted[above]);
}

// Weights in the examples' own units.
void fit_weights(std::span<const ScoreSummary> known, std::span<const ScoreSummary> unknown,
                 KnownModel& model) {
  std::vector<double> u, margin;
  for (const auto& examples : {known, unknown}) {
    for (const float value : values(examples, model.uses_leverage)) u.push_back(value);
    for (const ScoreSummary& one : examples) margin.push_back(one.margin());
  }
  const Scale u_scale = scale_of(u), margin_scale = scale_of(margin);
  std::vector<std::array<double, 2>> rows;
  for (std::size_t i = 0; i < u.size(); ++i) {
    rows.push_back({u_scale(u[i]), margin_scale(margin[i])});
  }
  const auto apply = [&](const Logistic& found) {
    const double weight = found.u / u_scale.deviation;
    const double margin_weight = found.margin / margin_scale.deviation;
    model.weight = float(weight);
    model.margin_weight = float(margin_weight);
    model.offset =
        float(found.offset - weight * u_scale.median - margin_weight * margin_scale.median);
  };
  Logistic without = fit(rows, known.size(), false);
  without.margin = 0;
  if (!(without.u > 0)) return;
  model.informative = true;
  apply(without);
  const NoveltyMeasure plain = measure(model, known, unknown);
  const Logistic with = fit(rows, known.size(), true);
  if (!(with.u > 0) || with.margin <= 0) return;
  apply(with);
  if (!worth_using(plain, measure(model, known, unknown), groups_of(unknown))) apply(without);
}

}  // namespace

float KnownModel::log_odds(const ScoreSummary& seen) const {
  const float u = uses_leverage ? deviation_score(seen) : seen.best;
  return offset + weight * u + margin_weight * seen.margin();
}

double KnownModel::probability(const ScoreSummary& seen) const {
  return informative ? sigmoid(log_odds(seen)) : 1.0;
}

float KnownModel::threshold(double false_alarms) const {
  if (known == 0) return -std::numeric_limits<float>::infinity();
  const double rate = false_alarms > 0 ? std::min(false_alarms, 1.0) : 0.0;  // NaN is 0
  const double at = rate * (kQuantiles - 1);
  const int below = std::min(int(at), kQuantiles - 2);
  const double part = at - below;
  return float((1 - part) * quantiles[std::size_t(below)] +
               part * quantiles[std::size_t(below) + 1]);
}

KnownModel fit_known_model(std::span<const ScoreSummary> known,
                           std::span<const ScoreSummary> unknown,
                           std::span<const ScoreSummary> calibration) {
  KnownModel model;
  model.known = int(calibration.size());
  model.unknown = int(unknown.size());
  if (!known.empty() && !unknown.empty()) {
    const NoveltyMeasure best{values(known, false), values(unknown, false)};
    const NoveltyMeasure deviations{values(known, true), values(unknown, true)};
    model.area_of_best = float(area_under_roc(best.known, best.unknown));
    model.uses_leverage = worth_using(best, deviations, groups_of(unknown));
    const NoveltyMeasure& chosen = model.uses_leverage ? deviations : best;
    if (area_under_roc(chosen.known, chosen.unknown) >= kLeastArea) {
      fit_weights(known, unknown, model);
    }
    const NoveltyMeasure found = measure(model, known, unknown);
    model.area = float(area_under_roc(found.known, found.unknown));
  }
  if (calibration.empty()) return model;
  std::vector<float> sorted = all_log_odds(model, calibration);
  std::sort(sorted.begin(), sorted.end());
  for (int q = 0; q < KnownModel::kQuantiles; ++q) {
    model.quantiles[std::size_t(q)] = quantile(sorted, double(q) / (KnownModel::kQuantiles - 1));
  }
  return model;
}

}  // namespace engram
