// What a learner refuses, without changing, and what it takes.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/scorer.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::exact_config;
using test::float_config;
using test::make_samples;
using test::Samples;
using test::says;

}  // namespace

TEST_CASE("learner: float features whose sums could overflow are refused", "[engine][learner]") {
  LearnerConfig config = GENERATE(float_config(20, 100), float_config(20, 0));
  config.nonlinearity = GENERATE(Nonlinearity::relu, Nonlinearity::square);
  Learner learner = Learner::create(config).value();
  // The last row of the second batch: nothing of the rows before it may be learned.
  Samples samples = make_samples(2, 150, 20);
  const bool squares = config.hidden != 0 && config.nonlinearity == Nonlinearity::square;
  samples.values.back() = squares ? 1e7f : 1e16f;
  const std::string before = learner.digest();
  CHECK(says(learner.learn(samples.features(), samples.labels), "Row 299"));
  CHECK(learner.encode(samples.features(), samples.labels).status().code() == Code::bad_data);
  SampleBatch batch{samples.labels, {}};
  const auto bytes = std::as_bytes(std::span(samples.values));
  batch.rows.assign(bytes.begin(), bytes.end());
  CHECK(learner.check(batch).code() == Code::bad_data);
  CHECK(learner.learn(batch).code() == Code::bad_data);
  CHECK(learner.digest() == before);
  CHECK(learner.classes().empty());

  samples.values.back() = squares ? 1e5f : 1e13f;
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  CHECK(learner.end_task().ok());
}

TEST_CASE("learner: bad input is refused and changes nothing", "[engine][learner]") {
  const LearnerConfig config = GENERATE(exact_config(20, 100), float_config(20, 100));
  Learner learner = Learner::create(config).value();
  const Samples samples = make_samples(2, 5, 20);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task().ok());
  const std::string before = learner.digest();

  const auto refused = [&](const Samples& bad, Code code) {
    CHECK(learner.learn(bad.features(), bad.labels).code() == code);
    CHECK(learner.encode(bad.features(), bad.labels).status().code() == code);
  };
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    Samples bad = samples;
    bad.values.back() = value;
    refused(bad, Code::bad_data);
    std::vector<Prediction> predictions(10);
    CHECK(learner.classify(bad.features(), predictions).code() == Code::bad_data);
    std::vector<float> scores(20);
    CHECK(learner.score(bad.features(), *learner.readout(), {scores.data(), 10, 2, 2}).code() ==
          Code::bad_data);
  }
  refused(make_samples(2, 5, 19), Code::invalid_argument);
  for (const char* label : {"", "tab\t", "\xff"}) {
    Samples bad = samples;
    bad.labels.back() = label;
    refused(bad, Code::invalid_argument);
  }
  Samples fewer = samples;
  fewer.labels.pop_back();
  refused(fewer, Code::invalid_argument);

  SampleBatch batch = learner.encode(samples.features(), samples.labels).value();
  batch.rows.pop_back();
  CHECK(learner.learn(batch).code() == Code::invalid_argument);
  batch.rows.push_back(std::byte{0x80});
  if (config.arithmetic == Arithmetic::exact) CHECK(learner.learn(batch).code() == Code::bad_data);
  for (const double lambda : {-1.0, 1e-50, 1e39}) {
    CHECK(learner.end_task(lambda).status().code() == Code::invalid_argument);
  }

  CHECK(learner.digest() == before);
  CHECK(learner.classes().size() == 2);
  CHECK(learner.task_samples() == 0);
}

TEST_CASE("learner: labels with spaces, UTF-8 and slashes are classes", "[engine][learner]") {
  Learner learner = Learner::create(exact_config(20, 100)).value();
  const Samples samples = make_samples(3, 1, 20);
  const std::vector<std::string> labels{"red mug", "猫/chat", "../up"};
  REQUIRE(learner.learn(samples.features(), labels).ok());
  CHECK(learner.classes()[1] == ClassInfo{"猫/chat", 1});
}

TEST_CASE("learner: configs that make no sense or do not fit are refused", "[engine][learner]") {
  CHECK(Learner::create(exact_config(0, 100)).status().code() == Code::invalid_argument);
  CHECK(Scorer::create(exact_config(0, 100)).status().code() == Code::invalid_argument);
}

}  // namespace engram
