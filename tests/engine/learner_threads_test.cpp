// One thread learns while others classify with the readout of the moment.
#include <atomic>
#include <thread>
#include <vector>

#include "engine/learner.h"
#include "engine/scorer.h"
#include "tests/support/catch.h"
#include "tests/support/synthetic.h"

namespace engram {

TEST_CASE("learner: classifying goes on while learning", "[engine][learner][threads]") {
  const test::Samples samples = test::make_samples(8, 12, 24);
  Learner learner = std::move(Learner::create(test::exact_config(24, 120))).value();
  REQUIRE(learner.learn(samples.features(0, 12), samples.names(0, 12)).ok());
  REQUIRE(learner.end_task().ok());

  std::atomic<bool> stop{false};
  std::atomic<int> failures{0}, rounds{0};
  const auto classify = [&] {
    std::vector<Prediction> predictions(12);
    while (!stop) {
      const Status status = learner.classify(samples.features(0, 12), predictions);
      const auto known = int(learner.readout()->classes.size());
      for (const Prediction& prediction : predictions) {
        if (!status.ok() || prediction.class_index < 0 || prediction.class_index >= known)
          ++failures;
      }
      ++rounds;
    }
  };
  const auto score_apart = [&] {
    Scorer scorer = std::move(Scorer::create(learner.config())).value();
    while (!stop) {
      const auto readout = learner.readout();
      const auto classes = int(readout->classes.size());
      std::vector<float> scores(std::size_t(12 * classes));
      if (!scorer.score(samples.features(0, 12), *readout, {scores.data(), 12, classes, classes})
               .ok()) {
        ++failures;
      }
      ++rounds;
    }
  };
  std::thread first(classify), second(classify), third(score_apart);
  for (int task = 1; task < 8; ++task) {
    CHECK(learner.learn(samples.features(12 * task, 12), samples.names(12 * task, 12)).ok());
    CHECK(learner.end_task().ok());
    const int seen = rounds;
    while (rounds < seen + 3) std::this_thread::yield();
  }
  stop = true;
  first.join();
  second.join();
  third.join();
  CHECK(failures == 0);
  CHECK(learner.readout()->classes.size() == 8);
}

}  // namespace engram
