// Learner: unlearn, relabel, rename, absorb. Histories of stores: store_edit_test.cpp.
#include <algorithm>
#include <cmath>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::says;
using test::taught;

constexpr int kWidth = 20, kUnits = 200;

LearnerConfig config_of(Form form, LambdaRule rule = LambdaRule::paper) {
  LearnerConfig config = test::exact_config(kWidth, kUnits);
  config.keep_features = form == Form::factored;
  config.lambda_rule = rule;
  return config;
}

// Samples [first, first + count) as a learner gets them back, with the ids of a first stream.
LearnedSamples learned(const Learner& learner, const Samples& samples, int first, int count) {
  LearnedSamples some;
  some.batch = learner.encode(samples.features(first, count), samples.names(first, count)).value();
  for (int i = 0; i < count; ++i) some.ids.push_back(first + i + 1);
  return some;
}

}  // namespace

TEST_CASE("what remains answers as if it had been alone", "[engine][learner][edit]") {
  const Form form = GENERATE(Form::factored, Form::dense);
  const LambdaRule rule = GENERATE(LambdaRule::fixed, LambdaRule::paper, LambdaRule::code);
  const Samples samples = make_samples(4, 15, kWidth);
  const LearnerConfig config = config_of(form, rule);
  Learner edited = taught(config, samples, 0, 60);
  REQUIRE(edited.form() == form);
  REQUIRE(edited.last_id() == 60);
  REQUIRE(edited.unlearn(learned(edited, samples, 40, 20)).ok());
  Learner fresh = taught(config, samples, 0, 40);
  REQUIRE(edited.classes() == fresh.classes());
  REQUIRE(edited.digest() == fresh.digest());
  REQUIRE(edited.task_samples() == 40);
  REQUIRE(edited.last_id() == 60);
  const auto one = edited.solve().value(), other = fresh.solve().value();
  REQUIRE(one.report.lambda == other.report.lambda);
  REQUIRE(one.readout->weights == other.readout->weights);
  REQUIRE(one.readout->feature_weights == other.readout->feature_weights);
  REQUIRE(one.readout->classes == other.readout->classes);
}

TEST_CASE("what is taken back from an ended task is not taken from the open one",
          "[engine][learner][edit]") {
  const Form form = GENERATE(Form::factored, Form::dense);
  const Samples samples = make_samples(3, 10, kWidth);
  Learner learner = taught(config_of(form), samples, 0, 20);
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.learn(samples.features(20, 10), samples.names(20, 10)).ok());
  REQUIRE(learner.unlearn(learned(learner, samples, 15, 8)).ok());
  REQUIRE(learner.task_samples() == 7);
  REQUIRE(learner.samples() == 22);
  REQUIRE(learner.relabel(learned(learner, samples, 25, 5), "else").ok());
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.readout()->classes ==
          std::vector<std::string>{"class 0", "class 1", "class 2", "else"});
}

TEST_CASE("samples that are none are refused", "[engine][learner][edit]") {
  const Form form = GENERATE(Form::factored, Form::dense);
  const Samples samples = make_samples(2, 5, kWidth);
  Learner learner = taught(config_of(form), samples, 0, 10);
  const std::string digest = learner.digest();
  const auto refused = [&](auto change) {
    LearnedSamples some = learned(learner, samples, 3, 4);
    change(some);
    return learner.unlearn(some).code() == Code::invalid_argument &&
           learner.relabel(some, "other").code() == Code::invalid_argument &&
           learner.digest() == digest;
  };
  CHECK(refused([](LearnedSamples& some) { some = {}; }));
  CHECK(refused([](LearnedSamples& some) { some.ids.pop_back(); }));
  CHECK(refused([](LearnedSamples& some) { std::swap(some.ids[0], some.ids[1]); }));
  CHECK(refused([](LearnedSamples& some) { some.ids[1] = some.ids[0]; }));
  CHECK(refused([](LearnedSamples& some) { some.ids.front() = 0; }));
  CHECK(refused([](LearnedSamples& some) { some.ids.back() = 11; }));
  CHECK(refused([](LearnedSamples& some) { some.batch.labels[0] = "stranger"; }));
  CHECK(refused([](LearnedSamples& some) { some.batch.labels[0] = ""; }));
  CHECK(refused([](LearnedSamples& some) { some.batch.rows.pop_back(); }));
  if (form == Form::factored) {  // sums cannot know
    CHECK(refused([](LearnedSamples& some) { some.batch.rows[0] ^= std::byte{1}; }));
    CHECK(refused(
        [](LearnedSamples& some) { std::swap(some.batch.labels[0], some.batch.labels[3]); }));
  }
  const LearnedSamples twice = learned(learner, samples, 0, 5);
  REQUIRE(learner.unlearn(twice).ok());
  REQUIRE(learner.unlearn(twice).code() == Code::invalid_argument);
  CHECK(learner.rename("class 1", "class 1").code() == Code::invalid_argument);
  CHECK(learner.rename("class 0", "x").code() == Code::invalid_argument);
  CHECK(learner.rename("class 1", "").code() == Code::invalid_argument);
}

TEST_CASE("names are given as if from the beginning", "[engine][learner][edit]") {
  const Form form = GENERATE(Form::factored, Form::dense);
  Samples samples = make_samples(4, 6, kWidth);
  Learner learner = taught(config_of(form), samples, 0, 24);
  REQUIRE(learner.rename("class 1", "class 3").ok());
  REQUIRE(learner.rename("class 0", "zero").ok());
  std::replace(samples.labels.begin(), samples.labels.end(), std::string("class 1"),
               std::string("class 3"));
  std::replace(samples.labels.begin(), samples.labels.end(), std::string("class 0"),
               std::string("zero"));
  Learner fresh = taught(config_of(form), samples, 0, 24);
  REQUIRE(learner.digest() == fresh.digest());
  REQUIRE(learner.classes() ==
          std::vector<ClassInfo>{{"zero", 6}, {"class 2", 6}, {"class 3", 12}});
  REQUIRE(learner.end_task().ok());
}

TEST_CASE("float sums are taken back to within their rounding", "[engine][learner][edit]") {
  const bool keep = GENERATE(true, false);
  LearnerConfig config = test::float_config(kWidth, kUnits);
  config.keep_features = keep;
  const Samples samples = make_samples(3, 10, kWidth);
  Learner learner = taught(config, samples, 0, 30);
  REQUIRE(learner.unlearn(learned(learner, samples, 20, 10)).ok());
  const Learner fresh = taught(config, samples, 0, 20);
  for (int r = 0; r < kUnits; r += 7) {
    for (int c = 0; c <= r; c += 3) {
      const double scale = std::sqrt(double(fresh.gram(r, r)) * fresh.gram(c, c)) + 1;
      REQUIRE(std::abs(learner.gram(r, c) - fresh.gram(r, c)) < 1e-4 * scale);
    }
  }
  REQUIRE(learner.unlearn(learned(learner, samples, 0, 20)).ok());
  REQUIRE(learner.samples() == 0);
  for (int r = 0; r < kUnits; ++r) REQUIRE(learner.gram(r, r / 2) == 0);
  REQUIRE(learner.digest() == Learner::create(config).value().digest());
}

TEST_CASE("two learners become one", "[engine][learner][edit]") {
  const Samples samples = make_samples(4, 10, kWidth);
  const Form one = GENERATE(Form::factored, Form::dense);
  const Form other = GENERATE(Form::factored, Form::dense);
  if (one == Form::factored && other == Form::dense) return;  // sums never come apart
  Learner both = taught(config_of(one), samples, 0, 25);
  REQUIRE(both.absorb(taught(config_of(other), samples, 15, 25)).ok());
  Learner fresh = taught(config_of(one), samples, 0, 25);
  REQUIRE(fresh.learn(samples.features(15, 25), samples.names(15, 25)).ok());
  REQUIRE(both.digest() == fresh.digest());
  REQUIRE(both.classes() == fresh.classes());
  REQUIRE(both.last_id() == 50);
  REQUIRE(both.exact_until() == fresh.exact_until());
  REQUIRE(both.absorb(Learner::create(config_of(Form::dense)).value()).ok());  // of nothing
  REQUIRE(both.form() == fresh.form());
  REQUIRE(both.digest() == fresh.digest());
}

}  // namespace engram
