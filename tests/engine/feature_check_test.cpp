// Features that are refused: the same sentence on every way in, from the CPU and from a device.
#include "engine/feature_check.h"

#include <cmath>
#include <string>
#include <vector>

#include "engine/learner.h"
#include "engine/memory_plan.h"
#include "engine/scorer.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::make_samples;
using test::Samples;
using test::says;

constexpr const char* kSentence =
    "Feature 7 of row 29 is nan; features must be finite. Nothing was changed.";

// A learner of thirty samples, and what it says of the same samples with a NaN in the last.
void check_refusals() {
  const Samples samples = make_samples(2, 15, 12);
  Samples bad = samples;
  bad.values[29 * 12 + 7] = std::nanf("");
  Learner learner = Learner::create(test::exact_config(12, 9000)).value();
  std::vector<Prediction> predictions(30);
  CHECK(says(learner.classify(bad.features(), predictions), kSentence));  // nothing learned yet
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task().ok());
  const std::string before = learner.digest();

  std::vector<float> scores(60);
  const MatrixView<float> to{scores.data(), 30, 2, 2};
  CHECK(says(learner.classify(bad.features(), predictions), kSentence));
  CHECK(says(learner.score(bad.features(), *learner.readout(), to), kSentence));
  Scorer scorer = Scorer::create(learner.config()).value();
  CHECK(says(scorer.score(bad.features(), *learner.readout(), to), kSentence));
  CHECK(says(learner.encode(bad.features(), bad.labels).status(), kSentence));
  CHECK(says(learner.learn(bad.features(), bad.labels), kSentence));
  CHECK(learner.digest() == before);
  // The frame after it is none the worse.
  REQUIRE(scorer.score(samples.features(), *learner.readout(), to).ok());
  CHECK(learner.classify(samples.features(), predictions).ok());
}

}  // namespace

TEST_CASE("feature_check: NaN is refused with its place, and changes nothing",
          "[engine][learner]") {
  REQUIRE(batch_rows(test::exact_config(12, 9000)) < 30);  // the last row is in another batch
  check_refusals();
}

TEST_CASE("feature_check: so it is on a device", "[engine][device]") {
  const test::OnSimtDevice on;
  check_refusals();
}

TEST_CASE("feature_check: what no feature gives a reason for is a failure of the device",
          "[engine][learner]") {
  const std::vector<float> features(6, 1.0F);
  const MatrixView<const float> f{features.data(), 2, 3, 3};
  std::vector<std::int32_t> seen{0, 0};
  CHECK(check_finite(f, {seen.data(), 1, 2, 2}).ok());
  seen[1] = 1;
  CHECK(check_finite(f, {seen.data(), 1, 2, 2}).code() == Code::device_failure);
}

}  // namespace engram
