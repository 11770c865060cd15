// The default rule: the choice is that of what was learned, not of how it came.
#include <cmath>
#include <random>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::accuracy;
using test::learner_of;
using test::make_samples;
using test::Samples;

LearnerConfig config_of(int hidden, bool keep, LambdaRule rule = LambdaRule::loo) {
  LearnerConfig config = test::exact_config(16, hidden);
  config.lambda_rule = rule;
  config.keep_features = keep;
  return config;
}

}  // namespace

TEST_CASE("loo: the same lambda in any order and any split into tasks", "[engine][loo]") {
  const bool keep = GENERATE(true, false);
  const LambdaRule rule = GENERATE(LambdaRule::loo, LambdaRule::gcv);
  const Samples samples = make_samples(6, 15, 16, 3, 1, 1.0);
  Learner joint = learner_of(config_of(300, keep, rule));
  REQUIRE(joint.learn(samples.features(), samples.labels).ok());
  const ReadoutReport report = joint.end_task().value();
  REQUIRE(joint.form() == (keep ? Form::factored : Form::dense));
  CHECK(report.rule == (!keep && rule == LambdaRule::loo ? "loo by gcv" : name(rule)));
  CHECK(report.candidates.size() == report.losses.size());
  CHECK(report.candidates.size() > 2);
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    std::vector<int> order(std::size_t(samples.count()));
    for (int i = 0; i < samples.count(); ++i) order[std::size_t(i)] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
    const Samples shuffled = test::reordered(samples, order);
    Learner split = learner_of(config_of(300, keep, rule));
    for (int first = 0; first < samples.count(); first += 18) {
      REQUIRE(split.learn(shuffled.features(first, 18), shuffled.names(first, 18)).ok());
      REQUIRE(split.end_task().ok());
    }
    CAPTURE(seed);
    CHECK(test::close(split.readout()->lambda, report.lambda, 1e-9));
  }
}

TEST_CASE("loo: one class a task and three samples a class cost nothing", "[engine][loo]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = make_samples(10, 3, 16, 5, 1, 0.8);
  const Samples other = make_samples(10, 20, 16, 5, 2, 0.8);
  Learner joint = learner_of(config_of(400, keep)), one = learner_of(config_of(400, keep));
  REQUIRE(joint.learn(samples.features(), samples.labels).ok());
  REQUIRE(joint.end_task().ok());
  for (int k = 0; k < 10; ++k) {
    REQUIRE(one.learn(samples.features(3 * k, 3), samples.names(3 * k, 3)).ok());
    REQUIRE(one.end_task().ok());
  }
  CHECK(accuracy(one, other) >= accuracy(joint, other) - 0.01);
  CHECK(accuracy(joint, other) > 0.8);
}

TEST_CASE("loo: strange stocks of samples have a defined outcome", "[engine][loo]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = make_samples(3, 4, 16);
  // One sample; one class; duplicates of one sample; zeros.
  Learner single = learner_of(config_of(200, keep));
  REQUIRE(single.learn(samples.features(0, 1), samples.names(0, 1)).ok());
  CHECK(single.end_task().ok());
  Learner one_class = learner_of(config_of(200, keep));
  REQUIRE(one_class.learn(samples.features(0, 4), samples.names(0, 4)).ok());
  CHECK(one_class.end_task().ok());
  Learner same = learner_of(config_of(200, keep));
  for (int i = 0; i < 12; ++i) {
    REQUIRE(same.learn(samples.features(0, 1), samples.names(4 * (i % 3), 1)).ok());
  }
  CHECK(same.end_task().ok());
  Learner nothing = learner_of(config_of(200, keep));
  const std::vector<float> zeros(48);
  REQUIRE(nothing.learn({zeros.data(), 3, 16, 16}, samples.names(0, 3)).ok());
  CHECK(nothing.end_task().ok());
  CHECK(learner_of(config_of(200, keep)).end_task().status().code() == Code::invalid_argument);
  for (Learner* each : {&single, &one_class, &same, &nothing}) {
    for (const float weight : each->readout()->weights) REQUIRE(std::isfinite(weight));
  }
}

TEST_CASE("loo: features from 1e-30 to 1e14 have a readout", "[engine][loo]") {
  LearnerConfig config = test::float_config(16, GENERATE(0, 200));
  config.lambda_rule = LambdaRule::loo;
  config.keep_features = GENERATE(true, false);
  const float size = GENERATE(1e-30f, 1e-10f, 1.0f, 1e10f, 1e12f);
  Samples samples = make_samples(3, 6, 16);
  for (float& value : samples.values) value *= size;
  Learner learner = learner_of(config);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  const Result<ReadoutReport> report = learner.end_task();
  CAPTURE(size, config.hidden, config.keep_features, report.status().what());
  REQUIRE(report.ok());
  for (const float weight : learner.readout()->weights) REQUIRE(std::isfinite(weight));
}

}  // namespace engram
