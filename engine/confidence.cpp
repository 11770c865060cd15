#include "engine/confidence.h"

#include <algorithm>
#include <cmath>

#include "platform/status.h"

namespace engram {
namespace {

constexpr double kLeastBeta = 0.1, kLargestBeta = 1000.0;

// Log-likelihood of the examples' own classes, and of one more that was taken for another by the
// mean margin: without it, examples that are all right would make beta infinite.
double likelihood(std::span<const ScoreSummary> known, double beta) {
  double sum = 0, margins = 0;
  for (const ScoreSummary& one : known) {
    sum += beta * one.own - log_sum_exp(one, beta);
    margins += one.margin();
  }
  return sum - std::log1p(std::exp(std::min(beta * margins / double(known.size()), 700.0)));
}

}  // namespace

float fit_beta(std::span<const ScoreSummary> known) {
  if (known.empty()) return Confidence::kUsualBeta;
  const bool one_class = std::all_of(known.begin(), known.end(),
                                     [](const ScoreSummary& one) { return one.classes < 2; });
  if (one_class) return Confidence::kUsualBeta;
  // One maximum where scores are exact: golden section on log beta, to 1e-3 of it.
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(kLeastBeta), high = std::log(kLargestBeta);
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = likelihood(known, std::exp(a)), at_b = likelihood(known, std::exp(b));
  while (high - low > 1e-3) {
    if (at_a >= at_b) {
      high = b, b = a, at_b = at_a;
      a = high - kGolden * (high - low);
      at_a = likelihood(known, std::exp(a));
    } else {
      low = a, a = b, at_a = at_b;
      b = low + kGolden * (high - low);
      at_b = likelihood(known, std::exp(b));
    }
  }
  return float(std::exp(0.5 * (low + high)));
}

Confidence fit_confidence(std::span<const ScoreSummary> known,
                          std::span<const ScoreSummary> unknown,
                          std::span<const ScoreSummary> calibration) {
  Confidence confidence;
  confidence.beta = fit_beta(calibration);
  confidence.fitted = !calibration.empty();
  confidence.known = fit_known_model(known, unknown, calibration);
  return confidence;
}

void Confidence::probabilities(std::span<const float> scores, float leverage,
                               std::span<float> out) const {
  ENGRAM_CHECK(out.size() == scores.size());
  if (scores.empty()) return;
  const double p_known = known.probability(summarise(scores, -1, leverage));
  const float best = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) {
    out[k] = float(std::exp(double(beta) * (scores[k] - best)));
    sum += out[k];
  }
  for (float& value : out) value = float(p_known * value / sum);
}

std::vector<ReliabilityBin> reliability_curve(std::span<const JudgedAnswer> answers, int bins) {
  ENGRAM_CHECK(bins > 0);
  std::vector<ReliabilityBin> curve{std::size_t(bins)};
  for (const JudgedAnswer& answer : answers) {
    const int at = std::clamp(int(answer.confidence * float(bins)), 0, bins - 1);
    ReliabilityBin& bin = curve[std::size_t(at)];
    bin.confidence += answer.confidence;
    bin.accuracy += answer.right ? 1 : 0;
    ++bin.count;
  }
  for (ReliabilityBin& bin : curve) {
    if (bin.count == 0) continue;
    bin.confidence /= bin.count;
    bin.accuracy /= bin.count;
  }
  return curve;
}

double expected_calibration_error(std::span<const ReliabilityBin> bins) {
  double sum = 0;
  int count = 0;
  for (const ReliabilityBin& bin : bins) {
    sum += bin.count * std::abs(bin.confidence - bin.accuracy);
    count += bin.count;
  }
  return count > 0 ? sum / count : 0.0;
}

}  // namespace engram
