// Probabilities and "unknown" from examples with a known truth.
#include "engine/confidence.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

// Scores of K classes, the own one around `level`, the others around 0.
std::vector<float> draw(std::mt19937& random, int classes, int own, double level, double spread) {
  std::vector<float> scores;
  for (int k = 0; k < classes; ++k) {
    scores.push_back(float((k == own ? level : 0.0) + spread * test::normal(random)));
  }
  return scores;
}

struct Drawn {
  std::vector<ScoreSummary> known, unknown;
};
// The leverage of unknown things is larger by a factor.
Drawn draw_examples(unsigned seed, int count, double level, double factor) {
  std::mt19937 random(seed);
  Drawn drawn;
  for (int i = 0; i < count; ++i) {
    const auto leverage = float(std::exp(0.1 * test::normal(random)));
    drawn.known.push_back(summarise(draw(random, 6, i % 6, level, 0.15), i % 6, leverage));
    drawn.unknown.push_back(
        summarise(draw(random, 6, -1, 0.0, 0.15), -1, leverage * float(factor)));
    drawn.unknown.back().group = i % 8;
  }
  return drawn;
}

double share_below(const KnownModel& model, const std::vector<ScoreSummary>& examples,
                   double rate) {
  int below = 0;
  for (const ScoreSummary& one : examples) below += model.log_odds(one) < model.threshold(rate);
  return double(below) / double(examples.size());
}

}  // namespace

TEST_CASE("confidence: a summary is best, second and the rest", "[engine][unknown]") {
  const std::vector<float> scores{0.1F, 0.7F, 0.3F, -0.1F};
  const ScoreSummary all = summarise(scores, 2, 1.5F);
  CHECK(all.best == 0.7F);
  CHECK(all.second == 0.3F);
  CHECK(all.own == 0.3F);
  CHECK(all.rest_mean == Approx(0.0).margin(1e-7));
  CHECK(all.rest_variance == Approx(0.01));
  CHECK(all.classes == 4);
  CHECK(all.known);
  CHECK_FALSE(all.right());
  const ScoreSummary without = summarise(scores, 1, 0, 1);
  CHECK(without.best == 0.3F);
  CHECK(without.classes == 3);
  CHECK_FALSE(without.known);
  const ScoreSummary none = summarise({}, -1, 0);
  CHECK(none.classes == 0);
  CHECK(std::isfinite(log_sum_exp(none, 10)));

  double sum = 0;  // two classes: no approximation
  for (const float score : {0.7F, 0.3F}) sum += std::exp(4.0 * score);
  CHECK(log_sum_exp(summarise(std::vector<float>{0.3F, 0.7F}, 0, 0), 4.0) == Approx(std::log(sum)));
  sum = 0;
  for (const float score : scores) sum += std::exp(4.0 * score);
  CHECK(log_sum_exp(all, 4.0) == Approx(std::log(sum)).margin(0.01));
}

TEST_CASE("confidence: false alarms come at the rate that was asked for", "[engine][unknown]") {
  const Drawn seen = draw_examples(1, 2000, 0.6, 1.0), fresh = draw_examples(2, 2000, 0.6, 1.0);
  const KnownModel model = fit_known_model(seen.known, seen.unknown, seen.known);
  CHECK(model.informative);
  CHECK_FALSE(model.uses_leverage);  // it tells nothing here
  for (const double rate : {0.01, 0.05, 0.2}) {
    CHECK(share_below(model, fresh.known, rate) == Approx(rate).margin(0.02));
  }
  CHECK(share_below(model, fresh.unknown, 0.05) > 0.5);
  CHECK(model.threshold(0.0) < model.threshold(0.05));
  CHECK(model.area >= model.area_of_best - 0.005F);
}

TEST_CASE("confidence: leverage is used where it tells, and only there", "[engine][unknown]") {
  const Drawn seen = draw_examples(3, 400, 0.3, 8.0), fresh = draw_examples(4, 400, 0.3, 8.0);
  const KnownModel model = fit_known_model(seen.known, seen.unknown, seen.known);
  CHECK(model.uses_leverage);
  CHECK(model.area > model.area_of_best);
  CHECK(share_below(model, fresh.unknown, 0.05) > 0.3);
  // P(known) is true of half known, half unknown things.
  std::vector<JudgedAnswer> judged;
  for (const ScoreSummary& one : fresh.known) {
    judged.push_back({float(model.probability(one)), true});
  }
  for (const ScoreSummary& one : fresh.unknown) {
    judged.push_back({float(model.probability(one)), false});
  }
  CHECK(expected_calibration_error(reliability_curve(judged)) < 0.06);

  const Drawn misleading = draw_examples(5, 400, 0.3, 0.1);  // the unknown is nearer
  CHECK_FALSE(
      fit_known_model(misleading.known, misleading.unknown, misleading.known).uses_leverage);
}

TEST_CASE("confidence: with few examples too, false alarms come at the rate on average",
          "[engine][unknown]") {
  double plain = 0, sure = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Drawn seen = draw_examples(100 + unsigned(trial), 24, 0.6, 1.0);
    const Drawn fresh = draw_examples(9000 + unsigned(trial), 50, 0.6, 1.0);
    const KnownModel model = fit_known_model(seen.known, {}, seen.known);
    plain += share_below(model, fresh.known, 0.05) / kTrials;
    sure += share_below(model, fresh.known, 0.0) / kTrials;
  }
  CHECK(plain == Approx(0.05).margin(0.01));  // without the (n + 1) it would be 0.08
  CHECK(sure < 0.005);
}

TEST_CASE("confidence: leverage needs classes that agree, not many samples", "[engine][unknown]") {
  Drawn seen = draw_examples(3, 400, 0.3, 8.0);
  CHECK(fit_known_model(seen.known, seen.unknown, seen.known).uses_leverage);
  Drawn one_class = seen;
  for (ScoreSummary& one : one_class.unknown) one.group = 0;
  CHECK_FALSE(fit_known_model(one_class.known, one_class.unknown, seen.known).uses_leverage);
  // Of eight classes one is far away by leverage, seven a little nearer than known things.
  Drawn divided = draw_examples(3, 400, 0.3, 0.98);
  const Drawn far = draw_examples(3, 400, 0.3, 60.0);
  for (std::size_t i = 0; i < divided.unknown.size(); i += 8) divided.unknown[i] = far.unknown[i];
  CHECK_FALSE(fit_known_model(divided.known, divided.unknown, seen.known).uses_leverage);
}

TEST_CASE("confidence: beta makes probabilities true", "[engine][unknown]") {
  std::mt19937 random(6);
  std::vector<ScoreSummary> known;
  std::vector<std::vector<float>> scores;
  for (int i = 0; i < 3000; ++i) {
    scores.push_back(draw(random, 5, i % 5, 0.35, 0.2));
    known.push_back(summarise(scores.back(), i % 5, 0));
  }
  const Confidence confidence = fit_confidence(known, {}, known);
  // Gaussian scores of one spread: the true beta is level / variance.
  CHECK(confidence.beta == Approx(0.35 / 0.04).epsilon(0.08));
  CHECK(confidence.fitted);
  std::vector<JudgedAnswer> judged;
  std::vector<float> probabilities(5);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    confidence.probabilities(scores[i], 0, probabilities);
    float sum = 0;
    for (const float p : probabilities) sum += p;
    REQUIRE(sum == Approx(1.0F));
    const auto best = std::max_element(probabilities.begin(), probabilities.end());
    judged.push_back({*best, best - probabilities.begin() == std::ptrdiff_t(i % 5)});
  }
  CHECK(expected_calibration_error(reliability_curve(judged)) < 0.03);
}

TEST_CASE("confidence: without examples there is an answer all the same", "[engine][unknown]") {
  const Confidence nothing = fit_confidence({}, {}, {});
  CHECK_FALSE(nothing.fitted);
  CHECK(nothing.beta == Confidence::kUsualBeta);
  CHECK(nothing.known.threshold(0.05) == -std::numeric_limits<float>::infinity());
  std::vector<float> probabilities(2);
  nothing.probabilities(std::vector<float>{0.9F, 0.1F}, 0, probabilities);
  CHECK(probabilities[0] == Approx(1 / (1 + std::exp(-5 * 0.8F))));

  // One class: beta means nothing, but the table does.
  std::vector<ScoreSummary> single;
  for (int i = 0; i < 20; ++i)
    single.push_back(summarise(std::vector<float>{0.5F + 0.02F * i}, 0, 0));
  const Confidence one = fit_confidence(single, {}, single);
  CHECK(one.fitted);
  CHECK_FALSE(one.known.informative);
  CHECK(one.known.threshold(0.05) == Approx(0.5 + (0.05 * 21 - 1) * 0.02));
  CHECK(one.known.probability(single[0]) == 1.0);

  // Equal examples, and unknown ones that look better known: no division by a spread of 0.
  const std::vector<ScoreSummary> equal(4, summarise(std::vector<float>{0.5F, 0.1F, 0.0F}, 0, 1));
  const std::vector<ScoreSummary> better(4, summarise(std::vector<float>{0.9F, 0.1F, 0.0F}, -1, 1));
  const Confidence odd = fit_confidence(equal, better, equal);
  CHECK_FALSE(odd.known.informative);
  CHECK(std::isfinite(odd.beta));
  CHECK(std::isfinite(odd.known.threshold(0.05)));
  CHECK(std::isfinite(fit_confidence(equal, equal, equal).known.log_odds(better[0])));
}

TEST_CASE("confidence: examples that are all right, and one duplicate among them",
          "[engine][unknown]") {
  Drawn seen = draw_examples(7, 30, 0.8, 4.0);
  const float before =
      float(fit_confidence(seen.known, seen.unknown, seen.known).known.probability(seen.known[0]));
  const Confidence sure = fit_confidence(seen.known, seen.unknown, seen.known);
  CHECK(sure.beta < 100);  // not infinite: 30 right ones of 30 may be 30 of 31
  CHECK(before > 0.8F);
  for (ScoreSummary& one : seen.known) one.leverage *= 1000;
  for (ScoreSummary& one : seen.unknown) one.leverage *= 1000;
  seen.known[1].leverage = 0;  // it was learned twice
  CHECK(fit_confidence(seen.known, seen.unknown, seen.known).known.probability(seen.known[0]) >
        0.8);
}

TEST_CASE("confidence: reliability by hand", "[engine][unknown]") {
  const std::vector<JudgedAnswer> answers{
      {0.95F, true}, {0.85F, true}, {0.9F, false}, {0.1F, false}, {1.0F, true}};
  const auto curve = reliability_curve(answers, 2);
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].count == 1);
  CHECK(curve[1].count == 4);
  CHECK(curve[1].accuracy == Approx(0.75));
  CHECK(curve[1].confidence == Approx(0.925));
  CHECK(expected_calibration_error(curve) == Approx((1 * 0.1 + 4 * 0.175) / 5));
  CHECK(expected_calibration_error({}) == 0.0);
}

}  // namespace engram
