// Factored and dense are one learner: the same statistics to the bit, whatever the order, the split,
// the threads, the form, and when the move came.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"
#include "tests/support/thoroughness.h"
#include "tests/support/thread_count.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::learner_of;
using test::make_samples;
using test::Samples;

constexpr int kFeatures = 12;

LearnerConfig with_rule(int hidden, LambdaRule rule, bool keep = true) {
  LearnerConfig config = test::exact_config(kFeatures, hidden);
  config.lambda_rule = rule;
  config.lambda = 500;
  config.keep_features = keep;
  return config;
}

// Random cuts of [0, count).
std::vector<int> cuts(int count, std::mt19937& random) {
  std::vector<int> ends;
  for (int at = 0; at < count;) {
    at = std::min(count, at + 1 + int(random() % 40));
    ends.push_back(at);
  }
  return ends;
}

void learn(Learner& learner, const Samples& samples, const std::vector<int>& ends) {
  int first = 0;
  for (const int end : ends) {
    REQUIRE(learner.learn(samples.features(first, end - first), samples.names(first, end - first))
                .ok());
    first = end;
  }
}

Samples shuffled(const Samples& samples, std::mt19937& random) {
  std::vector<int> order(std::size_t(samples.count()));
  for (int i = 0; i < samples.count(); ++i) order[std::size_t(i)] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return test::reordered(samples, order);
}

Learner reloaded(const Learner& learner, const std::string& path) {
  return std::move(test::round_trip(learner, path)).value();
}

}  // namespace

TEST_CASE("form: 200 histories in any order, split, thread count and form have one digest",
          "[engine][form]") {
  for (unsigned history = 0; history < 200; history += unsigned(test::every())) {
    CAPTURE(history);
    std::mt19937 random(history);
    const int classes = 2 + int(random() % 5), per_class = 1 + int(random() % 30);
    const Samples samples = make_samples(classes, per_class, kFeatures, history + 1);
    // Up to 180 samples: some stay factored at either M, some move at 50 or at 120.
    const int hidden = history % 2 == 0 ? 100 : 240;
    Learner kept = learner_of(with_rule(hidden, LambdaRule::fixed));
    Learner dense = learner_of(with_rule(hidden, LambdaRule::fixed, /*keep=*/false));
    {
      const test::ThreadCount threads(1);
      learn(dense, samples, {samples.count()});
    }
    {
      const test::ThreadCount threads(2);
      learn(kept, shuffled(samples, random), cuts(samples.count(), random));
    }
    REQUIRE(dense.form() == Form::dense);
    REQUIRE(kept.form() == (samples.count() <= hidden / 2 ? Form::factored : Form::dense));
    REQUIRE(kept.digest() == dense.digest());
    REQUIRE(kept.exact_until() == dense.exact_until());
    // The digest is not the same whatever was learned.
    REQUIRE(kept.learn(samples.features(0, 1), samples.names(0, 1)).ok());
    REQUIRE(kept.digest() != dense.digest());
  }
}

TEST_CASE("form: both hold the same G, C and F, entry by entry", "[engine][form]") {
  const Samples samples = make_samples(4, 12, kFeatures);
  Learner kept = learner_of(with_rule(100, LambdaRule::fixed));
  Learner dense = learner_of(with_rule(100, LambdaRule::fixed, false));
  for (Learner* each : {&kept, &dense}) {
    REQUIRE(each->learn(samples.features(), samples.labels).ok());
  }
  REQUIRE(kept.form() == Form::factored);
  bool same = true;
  for (int r = 0; r < 100; ++r) {
    for (int c = 0; c < 100; ++c) same = same && kept.gram(r, c) == dense.gram(r, c);
    for (int k = 0; k < 4; ++k) same = same && kept.class_sum(k, r) == dense.class_sum(k, r);
  }
  for (int k = 0; k < 4; ++k) {
    for (int l = 0; l < kFeatures; ++l) {
      same = same && kept.feature_sum(k, l) == dense.feature_sum(k, l);
    }
  }
  CHECK(same);
}

TEST_CASE("form: 200 histories are saved and loaded in either form", "[engine][form]") {
  const test::TempDirectory directory;
  for (unsigned history = 0; history < 200; history += unsigned(test::every())) {
    CAPTURE(history);
    std::mt19937 random(history + 1000);
    const LambdaRule rule = std::vector{LambdaRule::fixed, LambdaRule::paper, LambdaRule::code,
                                        LambdaRule::loo}[history % 4];
    const Samples samples =
        make_samples(2 + int(random() % 4), 4 + int(random() % 20), kFeatures, history + 7);
    Learner learner = learner_of(with_rule(100, rule, history % 5 != 0));
    const int first = samples.count() / 2, rest = samples.count() - first;
    REQUIRE(learner.learn(samples.features(0, first), samples.names(0, first)).ok());
    REQUIRE(learner.end_task().ok());
    Learner copy = reloaded(learner, directory / "half");
    REQUIRE(copy.form() == learner.form());
    REQUIRE(copy.digest() == learner.digest());
    REQUIRE(copy.readout()->weights == learner.readout()->weights);
    REQUIRE(copy.readout()->feature_weights == learner.readout()->feature_weights);
    for (Learner* each : {&learner, &copy}) {
      REQUIRE(each->learn(samples.features(first, rest), samples.names(first, rest)).ok());
    }
    Learner again = reloaded(copy, directory / "whole");
    REQUIRE(again.digest() == learner.digest());
    REQUIRE(again.form() == learner.form());
    REQUIRE(again.samples() == learner.samples());
    REQUIRE(again.task_samples() == learner.task_samples());
    REQUIRE(again.exact_until() == learner.exact_until());
    for (Learner* each : {&learner, &again}) REQUIRE(each->end_task().ok());
    REQUIRE(again.readout()->lambda == learner.readout()->lambda);
    REQUIRE(again.readout()->weights == learner.readout()->weights);
    REQUIRE(again.readout()->feature_weights == learner.readout()->feature_weights);
  }
}

TEST_CASE("form: the readouts of both forms agree", "[engine][form]") {
  for (const LambdaRule rule : {LambdaRule::fixed, LambdaRule::paper, LambdaRule::code}) {
    for (const int hidden : {100, 700}) {
      CAPTURE(name(rule), hidden);
      const Samples samples = make_samples(5, 9, kFeatures, 3, 1, 0.8);
      const Samples other = make_samples(5, 9, kFeatures, 3, 2, 0.8);
      Learner kept = learner_of(with_rule(hidden, rule));
      Learner dense = learner_of(with_rule(hidden, rule, false));
      for (Learner* each : {&kept, &dense}) {
        for (const int first : {0, 20}) {
          const int count = first == 0 ? 20 : 25;
          REQUIRE(each->learn(samples.features(first, count), samples.names(first, count)).ok());
          REQUIRE(each->end_task().ok());
        }
      }
      REQUIRE(kept.form() == Form::factored);
      REQUIRE(kept.readout()->lambda == dense.readout()->lambda);
      const std::vector<float> a = test::scores_of(kept, *kept.readout(), other),
                               b = test::scores_of(dense, *dense.readout(), other);
      REQUIRE(a.size() == 45 * 5);
      REQUIRE(b.size() == a.size());
      test::Worst worst;
      for (std::size_t i = 0; i < a.size(); ++i) worst.see(std::abs(double(a[i]) - b[i]));
      CHECK(worst.value() < 2e-3);
    }
  }
}

TEST_CASE("form: samples with new classes move to dense in one batch", "[engine][form]") {
  const Samples samples = make_samples(9, 20, kFeatures);
  Learner learner = learner_of(with_rule(100, LambdaRule::paper));
  REQUIRE(learner.learn(samples.features(0, 30), samples.names(0, 30)).ok());
  REQUIRE(learner.form() == Form::factored);
  REQUIRE(learner.learn(samples.features(30, 150), samples.names(30, 150)).ok());
  CHECK(learner.form() == Form::dense);
  CHECK(learner.samples() == 180);
  CHECK(learner.task_samples() == 180);
  // The open task came along: the rule can split it.
  const Result<ReadoutReport> report = learner.end_task();
  REQUIRE(report.ok());
  CHECK(report->note.empty());
  CHECK(report->candidates.size() == report->losses.size());
}

TEST_CASE("form: real numbers move to dense as well", "[engine][form]") {
  LearnerConfig config = GENERATE(test::float_config(kFeatures, 100), test::float_config(120, 0));
  config.lambda_rule = LambdaRule::fixed;
  const Samples samples = make_samples(3, 30, config.features);
  Learner kept = learner_of(config);
  config.keep_features = false;
  Learner dense = learner_of(config);
  for (Learner* each : {&kept, &dense}) {
    REQUIRE(each->learn(samples.features(0, 40), samples.names(0, 40)).ok());
  }
  REQUIRE(kept.form() == Form::factored);
  for (Learner* each : {&kept, &dense}) {
    REQUIRE(each->learn(samples.features(40, 50), samples.names(40, 50)).ok());
    REQUIRE(each->end_task().ok());
  }
  REQUIRE(kept.form() == Form::dense);
  const std::vector<float> a = test::scores_of(kept, *kept.readout(), samples),
                           b = test::scores_of(dense, *dense.readout(), samples);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(test::close(a[i], b[i], 1e-3, 1e-3));
}

}  // namespace engram
