#include "engine/open_set.h"

#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {

TEST_CASE("open set: held-out classes are told from taught ones", "[engine][unknown]") {
  const test::Samples train = test::make_samples(10, 8, 48, 1),
                      test_samples = test::make_samples(10, 6, 48, 1, 2);
  ProtocolData data{
      train.features(), train.classes, test_samples.features(), test_samples.classes, {}};
  for (int k = 0; k < 10; ++k) data.classes.push_back("class " + std::to_string(k));
  OpenSetOptions options;
  options.config = test::exact_config(48, 400);
  const auto result = run_open_set(data, options);
  REQUIRE(result.ok());
  const OpenSetResult& found = result.value();
  CHECK(found.held_out == 3);
  CHECK(found.taught == 7);
  CHECK(found.learned == 56);
  CHECK(found.known == 42);
  CHECK(found.unknown == 18);
  CHECK(found.area > 0.8);
  CHECK(found.area >= found.area_of_best - 0.02);
  CHECK(found.false_alarms < 0.3);
  CHECK(found.detected > found.false_alarms);
  CHECK(found.accuracy > 0.8);
  int counted = 0;
  for (const ReliabilityBin& bin : found.reliability) counted += bin.count;
  CHECK(counted == 60);

  options.tasks = 3;
  options.config.keep_features = false;
  const auto stream = run_open_set(data, options);
  REQUIRE(stream.ok());
  CHECK(stream->learned == 56);
  CHECK(stream->area > 0.75);
  CHECK(stream->detected > stream->false_alarms);
  options.tasks = 1;
  options.config.keep_features = true;
  options.shots = 2;
  CHECK(run_open_set(data, options)->learned == 14);
  options.held_out = 1.0;  // one class stays
  CHECK(run_open_set(data, options)->taught == 1);
  data.classes.resize(1);
  CHECK(run_open_set(data, options).status().code() == Code::invalid_argument);
}

}  // namespace engram
