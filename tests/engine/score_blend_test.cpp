// Ridge on hidden units and class means of features in one readout, against their definition in double.
#include "engine/score_blend.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/left_out.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/ridge_case.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::close;
using test::make_samples;
using test::Samples;
using test::scores_of;

constexpr int kFeatures = 16;

// Class k keeps 1 + 3 k samples.
Samples uneven(int classes, unsigned draw = 1) {
  const Samples even = make_samples(classes, 3 * classes, kFeatures, 5, draw, 0.8);
  std::vector<int> order;
  for (int i = 0; i < even.count(); ++i) {
    if (i % (3 * classes) < 1 + 3 * even.classes[std::size_t(i)]) order.push_back(i);
  }
  return test::reordered(even, order);
}

Learner taught(ReadoutKind kind, bool keep, const Samples& samples, int hidden = 400) {
  LearnerConfig config = test::exact_config(kFeatures, hidden);
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = 2000;
  config.keep_features = keep;
  config.readout = kind;
  return test::taught_task(config, samples);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("score blend: weights by counts", "[engine][readout]") {
  const std::vector<ClassInfo> classes{{"a", 1}, {"b", 4}, {"c", 16}};
  const ScoreBlend blend = score_blend(ReadoutKind::blend, classes, 3.0);
  REQUIRE(blend.ridge.size() == 3);
  CHECK(close(blend.ridge[0], std::sqrt(7.0), 1e-6));
  CHECK(close(blend.ridge[2], std::sqrt(7.0 / 16), 1e-6));
  CHECK(close(blend.mean, 2 * (1 + 0.25 + 0.0625) / 3 / 3));
  CHECK(score_blend(ReadoutKind::ridge, classes, 3.0).plain());
  CHECK(close(score_blend(ReadoutKind::mean, classes, 3.0).mean, 1.0 / 3));
  // No means to compare with: ridge alone, of uneven classes still with its factors.
  CHECK(score_blend(ReadoutKind::blend, classes, 0).mean == 0);
  CHECK(score_blend(ReadoutKind::blend, classes, 0).ridge == blend.ridge);
  CHECK(score_blend(ReadoutKind::mean, classes, 0).plain());
  CHECK(score_blend(ReadoutKind::blend, {}, 0).plain());
}

TEST_CASE("score blend: a learner's readout is the blend of ridge and means", "[engine][readout]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = uneven(5);
  Learner plain = taught(ReadoutKind::ridge, keep, samples);
  Learner learner = taught(ReadoutKind::blend, keep, samples);
  const auto ridge = plain.readout(), mine = learner.readout();
  const std::size_t classes = ridge->classes.size(), units = 400, width = kFeatures;
  double squares = 0, mean_inverse = 0;
  std::vector<std::vector<double>> directions(classes, std::vector<double>(width));
  std::vector<double> common(width);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < width; ++l) directions[k][l] = learner.feature_sum(int(k), int(l));
    const double count = double(learner.classes()[k].samples);
    squares += dot(directions[k], directions[k]) / count;
    mean_inverse += 1.0 / count / double(classes);
  }
  const double usual = std::sqrt(squares / samples.count());
  for (std::vector<double>& direction : directions) {
    const double length = std::sqrt(dot(direction, direction));
    for (std::size_t l = 0; l < width; ++l) {
      direction[l] /= length * usual;
      common[l] += direction[l] / double(classes);
    }
  }
  REQUIRE(ridge->feature_weights.empty());
  REQUIRE(mine->feature_weights.size() == width * classes);
  for (std::size_t k = 0; k < classes; ++k) {
    const double count = double(learner.classes()[k].samples);
    const double a = std::sqrt(double(samples.count()) / double(classes) / count);
    for (std::size_t m = 0; m < units; ++m) {
      REQUIRE(close(mine->weights[k * units + m], a * ridge->weights[k * units + m], 1e-5, 1e-9));
    }
    for (std::size_t l = 0; l < width; ++l) {
      const double wanted = 2 * mean_inverse * (directions[k][l] - common[l]);
      REQUIRE(close(mine->feature_weights[k * width + l], wanted, 1e-5, 1e-9));
    }
  }
  // Scores are of both parts: f are the quantised features.
  const Samples probes = make_samples(5, 3, kFeatures, 5, 2, 0.8);
  const std::vector<float> scores = scores_of(learner, *mine, probes);
  const std::vector<float> on_ridge = scores_of(plain, *ridge, probes);
  for (int b = 0; b < probes.count(); ++b) {
    for (std::size_t k = 0; k < classes; ++k) {
      const std::size_t at = std::size_t(b) * classes + k;
      const double count = double(learner.classes()[k].samples);
      double wanted = std::sqrt(double(samples.count()) / double(classes) / count) * on_ridge[at];
      for (int l = 0; l < kFeatures; ++l) {
        const double q = std::min(127.0, std::nearbyint(32.0 * probes.features()(b, l)));
        wanted += q * mine->feature_weights[k * width + std::size_t(l)];
      }
      REQUIRE(std::abs(scores[at] - wanted) < 1e-4);
    }
  }
}

TEST_CASE("score blend: form, order and tasks do not matter", "[engine][readout]") {
  const Samples samples = uneven(5), probes = make_samples(5, 4, kFeatures, 5, 2, 0.8);
  Learner factored = taught(ReadoutKind::blend, true, samples);
  Learner dense = taught(ReadoutKind::blend, false, samples);
  Learner tasks = taught(ReadoutKind::blend, true, test::reordered(samples, {0}));
  for (int i = 1; i < samples.count(); ++i) {
    REQUIRE(tasks.learn(samples.features(i, 1), samples.names(i, 1)).ok());
    REQUIRE(tasks.end_task().ok());
  }
  const std::vector<float> a = scores_of(factored, *factored.readout(), probes);
  const std::vector<float> b = scores_of(dense, *dense.readout(), probes);
  const std::vector<float> c = scores_of(tasks, *tasks.readout(), probes);
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(std::abs(a[i] - b[i]) < 1e-4);
    REQUIRE(std::abs(a[i] - c[i]) < 1e-4);
  }
}

TEST_CASE("score blend: one photo of each class is judged by the nearest mean",
          "[engine][readout]") {
  const Samples samples = make_samples(6, 1, kFeatures, 7, 1, 0.5);
  const Samples probes = make_samples(6, 20, kFeatures, 7, 2, 0.5);
  LearnerConfig config = test::exact_config(kFeatures, 400);
  config.keep_features = GENERATE(true, false);
  Learner learner = test::taught_task(config, samples);
  const Readout nearest = std::move(learner.readout_of(ReadoutKind::mean)).value();
  const auto right = [&](const Readout& readout) {
    const std::vector<float> scores = scores_of(learner, readout, probes);
    int count = 0;
    for (int b = 0; b < probes.count(); ++b) {
      const auto first = scores.begin() + std::ptrdiff_t(b) * 6;
      count += std::max_element(first, first + 6) - first == probes.classes[std::size_t(b)];
    }
    return count;
  };
  CHECK(right(nearest) > 90);
  CHECK(right(*learner.readout()) >= right(nearest) - 1);
}

TEST_CASE("score blend: samples left out are in no mean", "[engine][novelty]") {
  test::RidgeCase problem = test::make_ridge_case(4, 5, 30, 12.0, 3);
  const test::RidgeCase other = test::make_ridge_case(4, 5, 21, 12.0, 4);  // features
  const std::vector<std::vector<double>>& f = other.h;
  const FeatureRows features{21, [&](int sample, float* row) {
                               for (const double value : f[std::size_t(sample)])
                                 *row++ = float(value);
                             }};
  std::vector<ClassInfo> classes(4, ClassInfo{"", 5});
  const ScoreBlend blend = score_blend(ReadoutKind::blend, classes, 40.0);
  const double lambda = 300;
  const LeftOut mixed =
      std::move(LeftOut::create(problem.view(), problem.classes, 4, lambda, 100, blend, features))
          .value();
  for (const std::vector<int>& out : {std::vector<int>{7}, {0, 4, 9}, {1, 5, 9, 13, 17}}) {
    std::vector<bool> learned(problem.h.size(), true);
    for (const int i : out) learned[std::size_t(i)] = false;
    const test::BruteForce ridge(problem, learned, lambda);
    std::vector<std::vector<double>> sums(4, std::vector<double>(21));
    std::vector<int> left(4);
    for (std::size_t i = 0; i < learned.size(); ++i) {
      if (!learned[i]) continue;
      ++left[std::size_t(problem.classes[i])];
      for (std::size_t l = 0; l < 21; ++l) sums[std::size_t(problem.classes[i])][l] += f[i][l];
    }
    std::vector<float> scores(out.size() * 4), leverages(out.size());
    REQUIRE(mixed.leave(out, scores, leverages));
    for (std::size_t b = 0; b < out.size(); ++b) {
      const std::vector<double>& own = f[std::size_t(out[b])];
      std::vector<float> wanted = ridge.scores(problem.h[std::size_t(out[b])]);
      const auto cosine = [&](std::size_t k) {
        return dot(own, sums[k]) * blend.mean / std::sqrt(dot(sums[k], sums[k]));
      };
      double common = 0, present = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        wanted[k] *= blend.ridge[k];
        if (left[k] == 0) continue;
        common += cosine(k);
        ++present;
      }
      for (std::size_t k = 0; k < 4; ++k) {
        if (left[k] > 0) wanted[k] += float(cosine(k) - common / present);
        CHECK(std::abs(scores[b * 4 + k] - wanted[k]) < 1e-3);
      }
    }
    if (out.size() > 1) continue;
    std::vector<float> alone(4);
    CHECK(close(mixed.leave_one(out[0], alone), leverages[0], 1e-4));
    for (std::size_t k = 0; k < 4; ++k) CHECK(close(alone[k], scores[k], 1e-4, 1e-5));
  }
}

TEST_CASE("readout_of: every kind from one state, in either form", "[engine][readout]") {
  const ReadoutKind kind = GENERATE(ReadoutKind::blend, ReadoutKind::ridge, ReadoutKind::mean,
                                    ReadoutKind::lda, ReadoutKind::balanced);
  CAPTURE(name(kind));
  const Samples samples = uneven(5), probes = make_samples(5, 10, kFeatures, 5, 2, 0.8);
  Learner factored = taught(ReadoutKind::blend, true, samples);
  Learner dense = taught(ReadoutKind::blend, false, samples);
  const auto before = factored.readout();
  const Readout one = std::move(factored.readout_of(kind)).value();
  const Readout other = std::move(dense.readout_of(kind)).value();
  CHECK(factored.readout() == before);
  CHECK((kind == ReadoutKind::lda) ==
        std::any_of(one.bias.begin(), one.bias.end(), [](float value) { return value != 0; }));
  const std::vector<float> a = scores_of(factored, one, probes),
                           b = scores_of(dense, other, probes);
  int right = 0;
  for (int i = 0; i < probes.count(); ++i) {
    const auto first = a.begin() + std::ptrdiff_t(i) * 5;
    right += std::max_element(first, first + 5) - first == probes.classes[std::size_t(i)];
  }
  CHECK(right > 40);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(close(a[i], b[i], 1e-3, 1e-3));
  // What the learner itself answers with goes on as if nothing had been asked.
  REQUIRE(factored.learn(probes.features(0, 3), probes.names(0, 3)).ok());
  const auto refreshed = std::move(factored.refresh()).value();
  const auto full = std::move(factored.solve(refreshed->lambda)).value().readout;
  const std::vector<float> c = scores_of(factored, *refreshed, probes);
  const std::vector<float> d = scores_of(factored, *full, probes);
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(std::abs(c[i] - d[i]) < 1e-4);
  Learner fresh = std::move(Learner::create(factored.config())).value();
  CHECK(fresh.readout_of(kind).status().code() == Code::not_found);
}

}  // namespace engram
