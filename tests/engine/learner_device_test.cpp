// A whole learner on a device with memory of its own (the emulated one): the same statistics to the
// bit, the same answers, and what happens when the device has too little memory or is lost.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/device_plan.h"
#include "engine/learner.h"
#include "engine/projection.h"
#include "engine/scorer.h"
#include "engine/store.h"
#include "kernels/kernels.h"
#include "platform/device.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_store.h"
#include "tests/support/staged_simt.h"
#include "tests/support/synthetic.h"
#include "tests/support/temp_directory.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

using test::make_samples;
using test::OnSimtDevice;
using test::Samples;
using test::says;

struct Learned {
  std::string digest;
  Form form;
  std::vector<int> said;
  SharedVector<float> weights;
  double lambda;
};

// Two tasks, and samples learned at once after them.
Learned run(const LearnerConfig& config, const Samples& samples, const Samples& test) {
  Learner learner = Learner::create(config).value();
  const int third = samples.count() / 3;
  for (int task = 0; task < 2; ++task) {
    REQUIRE(learner.learn(samples.features(task * third, third), samples.names(task * third, third))
                .ok());
    const auto report = learner.end_task();
    CAPTURE(report.status().what());
    REQUIRE(report.ok());
  }
  for (int i = 2 * third; i < samples.count(); ++i) {
    REQUIRE(learner.learn(samples.features(i, 1), samples.names(i, 1)).ok());
    if (i % 4 == 0) REQUIRE(learner.refresh().ok());
  }
  REQUIRE(learner.refresh().ok());
  std::vector<Prediction> predictions(std::size_t(test.count()));
  REQUIRE(learner.classify(test.features(), predictions).ok());
  Learned outcome{
      learner.digest(), learner.form(), {}, learner.readout()->weights, learner.readout()->lambda};
  for (const Prediction& prediction : predictions) outcome.said.push_back(prediction.class_index);
  return outcome;
}

Samples mixed(int classes, int per_class, unsigned draw) {
  const Samples samples = make_samples(classes, per_class, 12, 1, draw);
  std::vector<int> order;
  for (int i = 0; i < per_class; ++i)
    for (int k = 0; k < classes; ++k) order.push_back(k * per_class + i);
  return test::reordered(samples, order);
}

}  // namespace

TEST_CASE("learner: on a device the same statistics to the bit and the same answers",
          "[engine][device]") {
  const bool keep = GENERATE(true, false);
  LearnerConfig config = test::exact_config(12, 130);
  config.keep_features = keep;
  const Samples samples = mixed(4, 9, 1), test = mixed(4, 5, 2);
  const Learned cpu = run(config, samples, test);
  REQUIRE(cpu.form == (keep ? Form::factored : Form::dense));

  const OnSimtDevice on;
  const std::size_t before = DeviceStaging::of(simt::kMemory).copied_bytes();
  const Learned device = run(config, samples, test);
  CHECK(DeviceStaging::of(simt::kMemory).copied_bytes() > before);
  CHECK(DeviceStaging::of(simt::kMemory).peak_bytes() <= std::size_t(staging_bytes(config, 4)));
  CHECK(device.form == cpu.form);
  CHECK(device.digest == cpu.digest);
  CHECK(device.said == cpu.said);
  CHECK(std::fabs(device.lambda / cpu.lambda - 1) < 1e-3);
  REQUIRE(device.weights.size() == cpu.weights.size());
  test::Worst worst;
  double largest = 0;
  for (std::size_t i = 0; i < cpu.weights.size(); ++i) {
    worst.see(std::fabs(double{cpu.weights[i]} - device.weights[i]));
    largest = std::max(largest, std::fabs(double{cpu.weights[i]}));
  }
  CHECK(worst.value() < 1e-3 * largest);
}

TEST_CASE("scorer: goes on with the CPU when the device is lost", "[engine][device]") {
  const int waits = GENERATE(0, 1, 2, 3, 5);
  const Samples samples = mixed(3, 6, 1);
  const OnSimtDevice on;
  const LearnerConfig config = test::exact_config(12, 100);
  Learner learner = Learner::create(config).value();
  REQUIRE(learner.learn(samples.features(), samples.labels).ok());
  REQUIRE(learner.end_task().ok());
  const auto readout = learner.readout();
  Scorer scorer = Scorer::create(config).value();
  const auto scored = [&] {
    std::vector<float> scores(12);
    REQUIRE(scorer.score(samples.features(0, 4), *readout, {scores.data(), 4, 3, 3}).ok());
    return scores;
  };
  const std::vector<float> before = scored();
  simt::device_trial().waits_until_lost = waits;
  for (int frame = 0; frame < 5; ++frame) {
    const std::vector<float> scores = scored();
    for (std::size_t i = 0; i < 12; ++i) CHECK(scores[i] == Approx(before[i]).margin(1e-4));
  }
  CHECK(&scorer.kernels() == &kCpuKernels);
  // A learner cannot by itself: half of a change may be in its memory.
  std::vector<float> scores(12);
  CHECK(learner.score(samples.features(0, 4), *readout, {scores.data(), 4, 3, 3}).code() ==
        Code::device_failure);
}

TEST_CASE("learner: the move to sums on a device", "[engine][device]") {
  const Samples samples = mixed(3, 40, 1);
  LearnerConfig config = test::exact_config(12, 100);
  const auto learned = [&] {
    Learner learner = Learner::create(config).value();
    REQUIRE(learner.learn(samples.features(), samples.labels).ok());
    REQUIRE(learner.form() == Form::dense);
    return learner.digest();
  };
  const std::string cpu = learned();
  const OnSimtDevice on;
  CHECK(learned() == cpu);
}

TEST_CASE("learner: a device with too little memory refuses before anything starts",
          "[engine][device]") {
  LearnerConfig config = test::exact_config(12, 2000);
  config.keep_features = GENERATE(true, false);
  // Enough to begin with, not enough for what the plan says that learning comes to.
  const auto planned = std::size_t(plan(config, 10).total());
  const OnSimtDevice on({.memory_bytes = simt::device_bytes_allocated() + planned - 1});
  const auto refused = Learner::create(config);
  REQUIRE(refused.status().code() == Code::out_of_memory);
  CHECK(says(refused.status(), "--backend cpu"));
}

TEST_CASE("learner: the move stays within the plan, and lacking memory changes nothing",
          "[engine][device]") {
  LearnerConfig config = test::exact_config(12, 1000);
  config.lambda_rule = LambdaRule::fixed;
  const Samples samples = mixed(4, 130, 1);
  const int count = samples.count(), few = count - 40;  // dense beyond 500
  Learner cpu = Learner::create(config).value();
  REQUIRE(cpu.learn(samples.features(), samples.labels).ok());

  // The device's memory is counted; the CPU computes.
  const std::int64_t planned = plan(config, 10, 1000, count).total();
  const OnSimtDevice on;
  Learner learner = Learner::create(config, kCpuKernels).value();
  const std::size_t before = simt::device_bytes_allocated();
  const auto started = std::size_t(plan(config, 10).learner_arena_bytes());
  REQUIRE(learner.learn(samples.features(0, few), samples.names(0, few)).ok());
  REQUIRE(learner.form() == Form::factored);
  const std::string digest = learner.digest();
  const std::size_t factored = simt::device_bytes_allocated();

  // Room for what is there, but not for G.
  simt::device_trial().memory_bytes = factored + 3'500'000;
  const Status refused = learner.learn(samples.features(few, 40), samples.names(few, 40));
  CHECK(refused.code() == Code::out_of_memory);
  CHECK(learner.form() == Form::factored);
  CHECK(learner.samples() == few);
  CHECK(learner.digest() == digest);
  CHECK(learner.end_task().ok());

  // What the plan says is enough, although both forms at once would not be.
  REQUIRE(before >= started);
  simt::device_trial().memory_bytes = before - started + std::size_t(planned);
  REQUIRE(factored + DenseStatistics::arena_bytes(config.hidden) +
              ProjectionScratch::bytes(config, kMaxBatchRows) >
          simt::device_trial().memory_bytes);
  REQUIRE(learner.learn(samples.features(few, 40), samples.names(few, 40)).ok());
  CHECK(learner.form() == Form::dense);
  CHECK(learner.digest() == cpu.digest());
}

TEST_CASE("learner: a kind of readout that needs more memory than is free is refused before",
          "[engine][device]") {
  const LearnerConfig config = test::exact_config(12, 1000);
  const Samples samples = mixed(3, 10, 1);
  Learner cpu = Learner::create(config).value();
  REQUIRE(cpu.learn(samples.features(), samples.labels).ok());
  REQUIRE(cpu.end_task().ok());
  CHECK(cpu.readout_of(ReadoutKind::balanced).ok());
  const std::string digest = cpu.digest();
  {
    const OnSimtDevice on({.memory_bytes = simt::device_bytes_allocated() + 1'000'000});
    const Status refused = cpu.readout_of(ReadoutKind::lda).status();
    CHECK(refused.code() == Code::out_of_memory);
    CHECK(says(refused, "beside what was learned"));
  }
  CHECK(cpu.digest() == digest);
  CHECK(cpu.readout_of(ReadoutKind::lda).ok());
}

TEST_CASE("store: a device lost in the middle leaves the state intact, and the CPU takes over",
          "[engine][device]") {
  const bool keep = GENERATE(true, false);
  const int waits = GENERATE(0, 1, 2, 3, 4, 6, 8);  // operations until it is lost
  CAPTURE(keep, waits);
  LearnerConfig config = test::small_config();
  config.keep_features = keep;
  const test::TempDirectory place;
  const std::string directory = place.path() + "/state";

  const OnSimtDevice on;
  Store store = Store::create(directory, config).value();
  for (int i = 0; i < 3; ++i) REQUIRE(store.learn(test::small_batch(i)).ok());
  REQUIRE(store.end_task().ok());
  const std::string before = store.learner().digest();

  simt::device_trial().waits_until_lost = waits;
  Status lost = store.learn(test::small_batch(3));
  const bool learned = lost.ok();  // it was lost later
  if (learned) lost = store.end_task().status();
  if (lost.ok()) return;  // not lost at all in so few operations
  CHECK(lost.code() == Code::device_failure);
  CHECK(says(lost, "cudaStreamSynchronize"));
  CHECK(says(lost, "--backend cpu"));
  CHECK(backend_in_use().kernels == &kCpuKernels);
  CHECK(says(backend_in_use().why_cpu, "GPU stopped"));
  if (!learned) CHECK(store.learner().digest() == before);

  // The same process goes on, and another reads the same.
  if (!learned) REQUIRE(store.learn(test::small_batch(3)).ok());
  REQUIRE(store.end_task().ok());
  const std::string after = store.learner().digest();
  CHECK(test::reopened(directory).status().code() == Code::busy);
  store = Store::create(place.path() + "/other", config).value();
  const auto again = test::reopened(directory);
  REQUIRE(again.ok());
  CHECK(again.value().digest == after);
}

TEST_CASE("store: a device that turns out to be lost when memory is asked for is taken over from",
          "[engine][device]") {
  const bool keep = GENERATE(true, false);
  const int allocations = GENERATE(0, 1, 2, 3, 5, 8, 12);  // until it is lost
  CAPTURE(keep, allocations);
  LearnerConfig config = test::small_config();
  config.keep_features = keep;
  const test::TempDirectory place;
  // What a class is called tells nobody how large anything is, but a new one needs room.
  const auto teach = [](Store& store, int number) {
    SampleBatch batch = test::small_batch(number);
    batch.labels.front() = "class " + std::to_string(number);
    return store.learn(batch);
  };
  const auto taught = [&](const std::string& directory, bool loses) {
    Store store = Store::create(directory, config).value();
    const auto done = [&](auto call) {
      Status status = call();
      if (!status.ok() && store.recover(status).ok()) status = call();
      CAPTURE(status.what());
      REQUIRE(status.ok());
    };
    done([&] { return teach(store, 0); });
    done([&] { return store.end_task().status(); });
    if (loses) simt::lose_device_at_allocation(allocations);
    for (int number = 1; number < 6; ++number) {
      done([&] { return teach(store, number); });
      done([&] { return store.learner().refresh().status(); });
    }
    done([&] { return store.end_task().status(); });
    return store.learner().digest();
  };
  const std::string cpu = taught(place.path() + "/cpu", false);
  const OnSimtDevice on;
  CHECK(taught(place.path() + "/lost", true) == cpu);
  if (allocations < 3) {  // so many there are in any case
    CHECK(backend_in_use().kernels == &kCpuKernels);
    CHECK(says(backend_in_use().why_cpu, "GPU stopped"));
  }
  CHECK(test::reopened(place.path() + "/lost").value().digest == cpu);
}

TEST_CASE("store: a device that runs out of memory in the middle leaves the state intact",
          "[engine][device]") {
  static bool is_short = false;
  static Kernels kernels = kCpuKernels;
  kernels.class_sums = [](Stream stream, auto... operands) {
    // The last of what a batch changes.
    if (std::exchange(is_short, false)) return device_out_of_memory("cudaLaunchKernelEx");
    return kCpuKernels.class_sums(stream, operands...);
  };
  use_backend({&kernels, nullptr, {}, {}});
  LearnerConfig config = test::small_config();
  config.keep_features = false;
  config.lambda_rule = LambdaRule::fixed;
  const test::TempDirectory place;
  Store store = Store::create(place.path() + "/state", config).value();
  REQUIRE(store.learn(test::small_batch(0)).ok());
  const std::string before = store.learner().digest();
  is_short = true;
  CHECK(store.learn(test::small_batch(1)).code() == Code::out_of_memory);
  CHECK(store.learner().digest() == before);
  CHECK(store.learn(test::small_batch(1)).ok());
  CHECK(store.learner().samples() == 2 * std::int64_t(test::small_batch(0).size()));
  use_backend({});
}

}  // namespace engram
