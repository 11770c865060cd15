#include "engine/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/learner.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {
using test::make_samples;
using test::Samples;
}  // namespace

TEST_CASE("calibrate: the byte is used and h spreads over 0..31", "[engine][calibrate]") {
  const float size = GENERATE(0.01f, 1.0f, 300.0f);
  Samples samples = make_samples(10, 10, 200);
  for (float& value : samples.values) value *= size;
  const Result<Calibration> calibration = calibrate(samples.features());
  REQUIRE(calibration.ok());
  int cut = 0, large = 0;
  for (const float value : samples.values) {
    const double q = double(value) * calibration->feature_scale;
    cut += q > 127.5;
    large += q > 60;
  }
  CHECK(cut < int(samples.values.size()) / 100);
  CHECK(large > 0);

  LearnerConfig config = test::exact_config(200, 500);
  config.feature_scale = calibration->feature_scale;
  config.hidden_mul = calibration->hidden_mul;
  Learner learner = std::move(Learner::create(config)).value();
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  double mean_square = 0;
  for (int m = 0; m < 500; ++m) mean_square += learner.gram(m, m) / (500.0 * samples.count());
  // Half of h is zero; the rest spreads with a deviation of about a third of 31.
  CHECK(std::sqrt(2 * mean_square) > 31.0 / 4);
  CHECK(std::sqrt(2 * mean_square) < 31.0 / 2);
}

TEST_CASE("calibrate: features that differ a little give the same answer", "[engine][calibrate]") {
  const Samples samples = make_samples(10, 10, 200);
  Samples other = samples;
  for (float& value : other.values) value *= 1.0001f;
  CHECK(calibrate(samples.features())->feature_scale == calibrate(other.features())->feature_scale);
  CHECK(calibrate(samples.features())->hidden_mul == calibrate(other.features())->hidden_mul);
  const double halves = 2 * std::log2(calibrate(samples.features())->feature_scale);
  CHECK(test::close(halves, std::round(halves), 0, 1e-5));
}

TEST_CASE("calibrate: refuses what it cannot measure by", "[engine][calibrate]") {
  Samples samples = make_samples(2, 10, 30);
  CHECK(calibrate(samples.features(0, 15)).status().code() == Code::invalid_argument);
  Samples bad = samples;
  bad.values[5] = std::numeric_limits<float>::infinity();
  CHECK(calibrate(bad.features()).status().code() == Code::bad_data);
  std::fill(bad.values.begin(), bad.values.end(), 0.0f);
  CHECK(calibrate(bad.features()).status().code() == Code::bad_data);
  bad.values[5] = 3.0f;  // one feature in six hundred is enough
  CHECK(calibrate(bad.features()).ok());
}

}  // namespace engram
