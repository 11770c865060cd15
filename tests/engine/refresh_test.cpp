// Instant learning: refresh() equals a full solve of everything at the same lambda.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::scores_of;

constexpr int kFeatures = 16;

LearnerConfig config_of(int hidden, bool keep) {
  LearnerConfig config = test::exact_config(kFeatures, hidden);
  config.lambda_rule = LambdaRule::fixed;
  config.lambda = 2000;
  config.keep_features = keep;
  return config;
}

// The current readout of `learner` against the full solve at its lambda.
void check_equals_full_solve(Learner& learner, const Samples& probes) {
  const auto instant = learner.readout();
  REQUIRE(instant->samples == learner.samples());
  const std::vector<float> mine = scores_of(learner, *instant, probes);
  // A learner of its own: solving must not help the one that is tested.
  const test::TempDirectory directory;
  Learner other = std::move(test::round_trip(learner, directory / "state")).value();
  const auto full = std::move(other.solve(instant->lambda)).value().readout;
  REQUIRE(full->classes == instant->classes);
  const std::vector<float> theirs = scores_of(other, *full, probes);
  const std::size_t classes = full->classes.size();
  for (int b = 0; b < probes.count(); ++b) {
    const auto row = std::ptrdiff_t(std::size_t(b) * classes);
    for (std::size_t k = 0; k < classes; ++k) {
      REQUIRE(std::abs(mine[std::size_t(row) + k] - theirs[std::size_t(row) + k]) < 1e-4);
    }
    const auto best = [&](const std::vector<float>& scores) {
      return std::max_element(scores.begin() + row,
                              scores.begin() + row + std::ptrdiff_t(classes)) -
             scores.begin();
    };
    REQUIRE(best(mine) == best(theirs));
  }
}

}  // namespace

TEST_CASE("refresh: equals a full solve over random histories", "[engine][refresh]") {
  // Factored throughout, dense throughout, and moving at 60 samples.
  const int hidden = GENERATE(400, 401, 120);
  const bool keep = hidden != 401;
  for (unsigned history = 0; history < 8; ++history) {
    CAPTURE(hidden, history);
    std::mt19937 random(history);
    const Samples samples = make_samples(8, 20, kFeatures, history + 1, 1, 0.8);
    const Samples probes = make_samples(8, 3, kFeatures, history + 1, 2, 0.8);
    Learner learner = std::move(Learner::create(config_of(hidden, keep))).value();
    // Nothing to refresh before the first task has ended.
    REQUIRE(learner.refresh().value() == nullptr);
    REQUIRE(learner.learn(samples.features(0, 25), samples.names(0, 25)).ok());
    REQUIRE(learner.refresh().value() == nullptr);
    REQUIRE(learner.end_task().ok());
    const auto before = learner.readout();
    REQUIRE(learner.refresh().value() == before);
    for (int first = 25; first < samples.count();) {
      const int count = std::min(samples.count() - first, 1 + int(random() % 16));
      REQUIRE(learner.learn(samples.features(first, count), samples.names(first, count)).ok());
      first += count;
      const auto readout = learner.refresh().value();
      REQUIRE(readout == learner.readout());
      REQUIRE(readout->samples == first);
    }
    check_equals_full_solve(learner, probes);
    // The one before is whole: those who hold it go on with it.
    REQUIRE(before->samples == 25);
    REQUIRE(before->weights.size() == before->classes.size() * std::size_t(hidden));
  }
}

TEST_CASE("refresh: memory is handed on only when nobody answers with it", "[engine][refresh]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = make_samples(4, 20, kFeatures, 3, 1, 0.8);
  Learner learner = std::move(Learner::create(config_of(400, keep))).value();
  REQUIRE(learner.learn(samples.features(0, 70), samples.names(0, 70)).ok());
  REQUIRE(learner.end_task().ok());
  int next = 70;
  const auto refreshed = [&] {
    REQUIRE(learner.learn(samples.features(next, 1), samples.names(next, 1)).ok());
    ++next;
    return learner.refresh().value();
  };
  const auto held = refreshed();
  const SharedVector<float> weights = held->weights, of_features = held->feature_weights;
  for (int i = 0; i < 3; ++i) CHECK(refreshed()->weights.data() != held->weights.data());
  CHECK(held->weights == weights);
  CHECK(held->feature_weights == of_features);
  // Nobody holds these: two take turns.
  const float* first = refreshed()->weights.data();
  const float* second = refreshed()->weights.data();
  CHECK(first != second);
  CHECK(refreshed()->weights.data() == first);
  CHECK(refreshed()->weights.data() == second);
}

TEST_CASE("refresh: after loading, and after more than it can follow", "[engine][refresh]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = make_samples(6, 60, kFeatures, 3, 1, 0.8);
  const Samples probes = make_samples(6, 3, kFeatures, 3, 2, 0.8);
  Learner learner = std::move(Learner::create(config_of(800, keep))).value();
  REQUIRE(learner.learn(samples.features(0, 40), samples.names(0, 40)).ok());
  REQUIRE(learner.end_task().ok());
  const test::TempDirectory directory;
  SnapshotWriter writer = std::move(SnapshotWriter::create(directory / "state")).value();
  REQUIRE(learner.save(writer).ok());
  REQUIRE(writer.commit().ok());
  const SnapshotReader reader = std::move(SnapshotReader::open(directory / "state")).value();
  Learner loaded = std::move(Learner::load(reader)).value();
  REQUIRE(loaded.learn(samples.features(40, 5), samples.names(40, 5)).ok());
  REQUIRE(loaded.refresh().ok());
  check_equals_full_solve(loaded, probes);
  // 300 at once: more than M / 8 pending rows, more than a factor grows by.
  REQUIRE(loaded.learn(samples.features(45, 300), samples.names(45, 300)).ok());
  REQUIRE(loaded.refresh().ok());
  check_equals_full_solve(loaded, probes);
  REQUIRE(loaded.learn(samples.features(345, 2), samples.names(345, 2)).ok());
  REQUIRE(loaded.refresh().ok());
  check_equals_full_solve(loaded, probes);
}

TEST_CASE("refresh: learning between a solve and its end of task counts", "[engine][refresh]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = make_samples(3, 20, kFeatures);
  Learner learner = std::move(Learner::create(config_of(400, keep))).value();
  REQUIRE(learner.learn(samples.features(0, 20), samples.names(0, 20)).ok());
  REQUIRE(learner.end_task().ok());
  // A solution at another lambda that is thrown away has overwritten the factor.
  REQUIRE(learner.learn(samples.features(20, 10), samples.names(20, 10)).ok());
  REQUIRE(learner.solve(77.0).ok());
  REQUIRE(learner.learn(samples.features(30, 30), samples.names(30, 30)).ok());
  REQUIRE(learner.refresh().ok());
  CHECK(learner.readout()->lambda == 2000);
  CHECK(learner.tasks() == 1);
  CHECK(learner.task_samples() == 40);
  check_equals_full_solve(learner, samples);
}

}  // namespace engram
