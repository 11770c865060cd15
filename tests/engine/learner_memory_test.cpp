// When a learner takes memory, and what is left when there is none.
#include <string>
#include <vector>

#include "engine/learner.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/catch.h"
#include "tests/support/learner_views.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::exact_config;
using test::float_config;
using test::learner_of;
using test::make_samples;
using test::Samples;

bool counted() {
  if (test::counts_allocations()) return true;
  WARN("allocations are not counted under sanitizers");
  return false;
}

}  // namespace

TEST_CASE("learner: as sums alone, learning known classes and classifying allocate nothing",
          "[engine][learner][memory]") {
  if (!counted()) return;
  LearnerConfig config = GENERATE(exact_config(40, 300), float_config(40, 300));
  config.keep_features = false;
  Learner learner = learner_of(config);
  const Samples samples = make_samples(3, 100, 40);
  std::vector<Prediction> predictions(300);
  const SampleBatch batch = learner.encode(samples.features(), samples.labels).value();
  // Once: classes are met, the pool's threads start, BLAS takes its own buffers.
  REQUIRE(learner.learn(batch).ok());
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.form() == Form::dense);
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.classify(samples.features(), predictions).ok());

  const long before = test::allocations();
  const Status learned = learner.learn(samples.features(), samples.labels);
  const Status learned_batch = learner.learn(batch);
  const Status classified = learner.classify(samples.features(), predictions);
  const Status one = learner.classify(samples.features(7, 1), std::span(predictions).first(1));
  const long after = test::allocations();
  CHECK((learned.ok() && learned_batch.ok() && classified.ok() && one.ok()));
  CHECK(after - before == 0);

  const long before_more = test::allocations();
  predictions.reserve(1000);
  CHECK(test::allocations() > before_more);  // the counter counts
}

TEST_CASE("learner: in the factored form learning allocates nothing between growth steps",
          "[engine][learner][memory]") {
  if (!counted()) return;
  const LearnerConfig config = GENERATE(exact_config(40, 600), float_config(40, 600));
  Learner learner = learner_of(config);
  const Samples samples = make_samples(3, 100, 40);
  std::vector<Prediction> predictions(300);
  REQUIRE(learner.learn(samples.features(150, 120), samples.names(150, 120)).ok());
  REQUIRE(learner.learn(samples.features(0, 30), samples.names(0, 30)).ok());
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.classify(samples.features(), predictions).ok());

  // 150 samples are there: room is up to 192.
  const long before = test::allocations();
  const Status learned = learner.learn(samples.features(30, 20), samples.names(30, 20));
  const Status one = learner.learn(samples.features(50, 1), samples.names(50, 1));
  const Status classified = learner.classify(samples.features(), predictions);
  const long after = test::allocations();
  CHECK(learner.form() == Form::factored);
  CHECK((learned.ok() && one.ok() && classified.ok()));
  CHECK(after - before == 0);
}

TEST_CASE("learner: with rows beside the sums learning allocates nothing between growth steps",
          "[engine][learner][memory]") {
  if (!counted()) return;
  const LearnerConfig config = GENERATE(exact_config(40, 300), float_config(40, 300));
  Learner learner = learner_of(config);
  const Samples samples = make_samples(3, 100, 40);
  std::vector<Prediction> predictions(300);
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.form() == Form::dense);
  REQUIRE(learner.end_task().ok());
  REQUIRE(learner.learn(samples.features(0, 1), samples.names(0, 1)).ok());
  REQUIRE(learner.classify(samples.features(), predictions).ok());

  // 301 samples are there: room is up to 384.
  const long before = test::allocations();
  const Status learned = learner.learn(samples.features(100, 80), samples.names(100, 80));
  const Status one = learner.learn(samples.features(50, 1), samples.names(50, 1));
  const Status classified = learner.classify(samples.features(), predictions);
  const long after = test::allocations();
  CHECK((learned.ok() && one.ok() && classified.ok()));
  CHECK(after - before == 0);
}

TEST_CASE("learner: memory that runs out while learning changes nothing",
          "[engine][learner][memory]") {
  if (!counted()) return;
  LearnerConfig config = exact_config(20, 100);
  config.lambda_rule = GENERATE(LambdaRule::fixed, LambdaRule::paper);
  config.keep_features = GENERATE(true, false);
  const int known = GENERATE(10, 45);  // 45: the next batch makes it dense
  const Samples samples = make_samples(12, 10, 20);
  Learner learner = learner_of(config);
  REQUIRE(learner.learn(samples.features(0, known), samples.names(0, known)).ok());
  const SampleBatch batch =
      learner.encode(samples.features(known, 40), samples.names(known, 40)).value();
  const std::string digest = learner.digest();
  const std::vector<ClassInfo> classes = learner.classes();
  int failures = 0;
  for (long n = 1;; ++n) {
    test::fail_allocation(n);
    const Status status = learner.learn(batch);
    const bool failed = test::fail_allocation(0);
    CAPTURE(n, status.what());
    REQUIRE(failed == !status.ok());
    if (!failed) break;
    ++failures;
    REQUIRE(status.code() == Code::out_of_memory);
    REQUIRE(learner.classes() == classes);
    REQUIRE(learner.samples() == known);
    REQUIRE(learner.task_samples() == known);
    REQUIRE(learner.digest() == digest);
  }
  CHECK(failures > 3);
  CHECK(learner.samples() == known + 40);
  // As a learner that never lacked anything.
  Learner other = learner_of(config);
  REQUIRE(other.learn(samples.features(0, known + 40), samples.names(0, known + 40)).ok());
  CHECK(learner.digest() == other.digest());
  CHECK(learner.classes() == other.classes());
}

}  // namespace engram
