// Threads and memory of a device: who may touch what while it runs, that a frame neither copies nor
// allocates, and that a tap does not allocate.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/learner.h"
#include "engine/leverage.h"
#include "engine/scorer.h"
#include "platform/buffer_allocator.h"
#include "tests/support/catch.h"
#include "tests/support/staged_simt.h"
#include "tests/support/synthetic.h"

namespace engram {
namespace {

using test::OnSimtDevice;
using test::Samples;

}  // namespace

TEST_CASE(
    "learner: threads classify while one learns, on a device that shares no memory with a CPU "
    "at work",
    "[engine][device][threads]") {
  const bool keep = GENERATE(true, false);
  const Samples samples = test::make_samples(4, 6, 12);
  const OnSimtDevice on({.one_side_at_a_time = true});
  LearnerConfig config = test::exact_config(12, 100);
  config.keep_features = keep;
  if (!keep) config.lambda_rule = LambdaRule::fixed;  // else hundreds of solves, one after another
  Learner learner = Learner::create(config).value();
  REQUIRE(learner.learn(samples.features(0, 6), samples.names(0, 6)).ok());
  REQUIRE(learner.end_task().ok());

  std::atomic<bool> stop{false};
  std::atomic<int> failures{0}, rounds{0};
  const auto classify = [&] {
    std::vector<Prediction> predictions(6);
    while (!stop) {
      failures += !learner.classify(samples.features(0, 6), predictions).ok();
      ++rounds;
    }
  };
  const auto score_apart = [&] {
    Scorer scorer = Scorer::create(config).value();
    while (!stop) {
      const auto readout = learner.readout();
      const auto classes = int(readout->classes.size());
      std::vector<float> scores(std::size_t(6 * classes)), leverages(6);
      failures += !scorer
                       .score(samples.features(0, 6), *readout,
                              {scores.data(), 6, classes, classes}, leverages)
                       .ok();
      ++rounds;
    }
  };
  std::thread first(classify), second(score_apart);
  for (int task = 1; task < 3; ++task) {
    CHECK(learner.learn(samples.features(6 * task, 5), samples.names(6 * task, 5)).ok());
    CHECK(learner.end_task().ok());
    CHECK(learner.learn(samples.features(6 * task + 5, 1), samples.names(6 * task + 5, 1)).ok());
    CHECK(learner.refresh().ok());
    CHECK(learner.digest().size() > 10);
    const int seen = rounds;
    while (rounds < seen + 2) std::this_thread::yield();
  }
  stop = true;
  first.join();
  second.join();
  CHECK(failures == 0);
}

TEST_CASE("learner: room for factors grows while no other thread has its turn",
          "[engine][device][threads]") {
  static std::thread other;
  static std::atomic<bool> had_its_turn = false;
  static bool had_it_meanwhile = false;
  static DeviceMemory watched = simt::kMemory;
  watched.reserve_factor = [](int) {
    other = std::thread([] {
      const StagingTurn turn(watched);
      had_its_turn = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    had_it_meanwhile = had_its_turn;
    return Status();
  };
  const OnSimtDevice on;
  set_buffer_memory(&watched);
  CHECK(Learner::create(test::exact_config(12, 100)).ok());
  set_buffer_memory(&simt::kMemory);
  if (other.joinable()) other.join();
  CHECK(had_its_turn);
  CHECK_FALSE(had_it_meanwhile);
}

TEST_CASE("scorer: a frame on a device is one piece of work, copies nothing and takes no memory",
          "[engine][device]") {
  const Samples samples = test::make_samples(4, 6, 12);
  const OnSimtDevice on;
  const LearnerConfig config = test::exact_config(12, 130);
  Learner learner = Learner::create(config).value();
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task().ok());
  const auto readout = std::make_shared<Readout>(*learner.readout());
  LeverageProbes probes;
  probes.scales.assign(kLeverageProbes, 0.01F);
  probes.values.assign(std::size_t{kLeverageProbes} * 130, 7);
  readout->probes = std::make_shared<const LeverageProbes>(probes);
  REQUIRE_FALSE(readout->feature_weights.empty());

  Scorer scorer = Scorer::create(config).value();
  const int count = 3, classes = int(readout->classes.size());
  const auto given = samples.features(0, count);
  SharedVector<float> features(given.data, given.data + 12 * count);
  SharedVector<float> said(std::size_t(count) * std::size_t(classes + 1));
  const MatrixView<float> scores{said.data(), count, classes, classes};
  const DeviceStaging& staging = DeviceStaging::of(simt::kMemory);
  const std::size_t copied = staging.copied_bytes(), taken = simt::device_allocations(),
                    waits = simt::device_waits(), recordings = simt::device_recordings();
  for (int frame = 0; frame < 3; ++frame) {
    REQUIRE(scorer
                .score({features.data(), count, 12, 12}, *readout, scores,
                       {scores.row(count), std::size_t(count)})
                .ok());
  }
  CHECK(staging.copied_bytes() == copied);
  CHECK(simt::device_allocations() == taken);
  CHECK(simt::device_waits() == waits + 3);  // one for each frame
  CHECK(simt::device_recordings() == recordings + 1);

  // From ordinary memory: what is copied is the frame and what is said of it, never the readout.
  std::vector<float> elsewhere(std::size_t(count) * std::size_t(classes));
  REQUIRE(scorer.score(given, *readout, {elsewhere.data(), count, classes, classes}).ok());
  CHECK(elsewhere == std::vector<float>(said.begin(), said.end() - count));
  CHECK(staging.copied_bytes() - copied < 1000);
  CHECK(simt::device_allocations() == taken);
}

TEST_CASE("learner: a tap on a device takes no memory once two readouts take turns",
          "[engine][device]") {
  const bool keep = GENERATE(true, false);  // factored, dense
  CAPTURE(keep);
  const Samples samples = test::make_samples(4, 8, 12);
  const OnSimtDevice on;
  LearnerConfig config = test::exact_config(12, 130);
  config.keep_features = keep;
  config.lambda_rule = LambdaRule::fixed;
  Learner learner = Learner::create(config).value();
  constexpr int kFirst =
      20;  // samples of the first task; the rest are taps: the last classes are new
  REQUIRE(learner.learn(samples.features(0, kFirst), samples.names(0, kFirst)).ok());
  REQUIRE(learner.end_task().ok());
  const auto tap = [&](int i) {
    REQUIRE(learner.learn(samples.features(i, 1), samples.names(i, 1)).ok());
    REQUIRE(learner.refresh().value()->samples == i + 1);
    REQUIRE_FALSE(learner.readout()->feature_weights.empty());
  };
  constexpr int kAllKnown = 27;  // the last class came with sample 24
  for (int i = kFirst; i < kAllKnown; ++i) tap(i);
  const std::size_t taken = simt::device_allocations();
  for (int i = kAllKnown; i < samples.count(); ++i) tap(i);
  CHECK(simt::device_allocations() == taken);
}

}  // namespace engram
