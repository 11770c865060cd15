// Learner::teaching in the dense form: what readouts say that are really trained without a sample.
#include <algorithm>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::taught_task;

constexpr int kWidth = 12;

LearnerConfig config_of(int hidden, double lambda, bool keep = true) {
  LearnerConfig config = test::exact_config(kWidth, hidden);
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = lambda;
  config.keep_features = keep;
  return config;
}

}  // namespace

TEST_CASE("teaching: in the dense form as counted by training again", "[engine][teaching]") {
  const Samples samples = make_samples(4, 16, kWidth, 3, 1, 1.6);
  const LearnerConfig config = config_of(100, 300);
  const Learner learner = taught_task(config, samples);
  REQUIRE(learner.form() == Form::dense);
  const Teaching teaching = learner.teaching().value();
  CHECK(teaching.samples == 64);
  CHECK(teaching.selected == 64);
  std::vector<int> right(4);
  for (int i = 0; i < samples.count(); ++i) {
    std::vector<int> others;
    for (int j = 0; j < samples.count(); ++j) {
      if (j != i) others.push_back(j);
    }
    Learner without = taught_task(config, test::reordered(samples, others));
    Prediction said;
    REQUIRE(without.classify(samples.features(i, 1), std::span(&said, 1)).ok());
    right[std::size_t(samples.classes[std::size_t(i)])] +=
        said.class_index == samples.classes[std::size_t(i)] ? 1 : 0;
  }
  int wrong = 0;
  for (int k = 0; k < 4; ++k) {
    // Counts weigh the blend; without a sample they differ by one: no more than one answer may.
    CAPTURE(k, right[std::size_t(k)]);
    CHECK(std::abs(teaching.report.classes[std::size_t(k)].right - right[std::size_t(k)]) <= 1);
    CHECK(teaching.report.classes[std::size_t(k)].judged == 16);
    wrong += 16 - right[std::size_t(k)];
  }
  CHECK(wrong > 3);
  CHECK_FALSE(teaching.report.confusable.empty());
}

TEST_CASE("teaching: near-duplicates in the dense form by their numbers", "[engine][teaching]") {
  Samples samples = make_samples(3, 25, kWidth, 5, 1, 1.6);
  std::copy_n(samples.features().row(7), kWidth, samples.values.begin() + 70 * kWidth);
  Learner learner = taught_task(config_of(100, 300), samples);
  LearnedSamples first = learner.kept_samples();
  first.ids.resize(3);
  first.batch.labels.resize(3);
  first.batch.rows.resize(3 * kWidth);
  REQUIRE(learner.unlearn(first).ok());  // numbers stay
  const Teaching teaching = learner.teaching().value();
  REQUIRE_FALSE(teaching.duplicates.empty());
  const DuplicateSamples& pair = teaching.duplicates.front();
  CHECK(pair.first == 8);
  CHECK(pair.second == 71);
  CHECK(pair.first_class == 0);
  CHECK(pair.second_class == 2);
}

TEST_CASE("teaching: of very many samples a selection of every class is judged",
          "[engine][teaching]") {
  const Samples samples = make_samples(8, 320, kWidth, 3, 1, 0.3);
  const Learner learner = taught_task(config_of(100, 300), samples);
  const Teaching teaching = learner.teaching().value();
  CHECK(teaching.samples == 2560);
  CHECK(teaching.selected == kTeachingSamples);
  for (const ClassTeaching& one : teaching.report.classes) {
    CHECK(one.samples == 320);
    CHECK(one.judged == kTeachingSamples / 8);
    CHECK(one.accuracy() > 0.9);
  }
}

TEST_CASE("teaching: sums alone cannot be judged", "[engine][teaching]") {
  const Learner learner =
      taught_task(config_of(100, 300, /*keep=*/false), make_samples(2, 5, kWidth));
  CHECK(learner.teaching().status().code() == Code::not_supported);
  CHECK(test::says(learner.teaching().status(), "--keep-features no"));
}

}  // namespace engram
