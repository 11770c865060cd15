#include "engine/adapt_training.h"

#include <cmath>
#include <limits>

#include "kernels/kernels.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_task.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

constexpr AdaptMethod kMethods[] = {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt};
constexpr std::int64_t kMuch = 1 << 30;
constexpr int kClasses = 4;

AdaptSettings quick_settings(AdaptMethod method, int epochs = 6) {
  AdaptSettings settings = test::small_settings(method);
  settings.epochs = epochs;
  settings.batch = 12;
  settings.micro_batch = 5;
  settings.dropout = 0.1;
  settings.learning_rate = 0.1;
  settings.recomputed_blocks = 1;
  return settings;
}

AdaptTraining begin(const VitModel& model, const AdaptSettings& settings, const AdaptData& data,
                    const Kernels& kernels = kCpuKernels) {
  Result<AdaptTraining> training = AdaptTraining::create(model, settings, data, kMuch, kernels);
  REQUIRE(training.ok());
  return std::move(training).value();
}

void finish(AdaptTraining& training) {
  while (!training.done()) REQUIRE(training.epoch().ok());
}

std::vector<float> values_of(const AdaptTraining& training) {
  const auto& values = training.parameters().values;
  return {values.begin(), values.end()};
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
bool same_curves(const AdaptTraining& a, const AdaptTraining& b) {
  return std::equal(a.curves().begin(), a.curves().end(), b.curves().begin(), b.curves().end(),
                    [](const AdaptEpoch& x, const AdaptEpoch& y) {
                      return same(x.loss, y.loss) && same(x.accuracy, y.accuracy) &&
                             same(x.held_out_loss, y.held_out_loss) &&
                             same(x.held_out_accuracy, y.held_out_accuracy);
                    });
}

}  // namespace

TEST_CASE("adapt: the loss falls and the accuracy rises", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::layer_scale);
  const AdaptData data = test::small_task(model.shape, kClasses, 90, 18);
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    AdaptTraining training = begin(model, quick_settings(method, 12), data);
    finish(training);
    REQUIRE(training.curves().size() == 12);
    const AdaptEpoch &first = training.curves().front(), &last = training.curves().back();
    CHECK(first.loss < 2);
    CHECK(last.loss < 0.9 * first.loss);
    CHECK(last.accuracy > first.accuracy + 10);
    CHECK(last.held_out_loss < first.held_out_loss);
    CHECK(last.held_out_accuracy > 50);
    CHECK(test::says(training.epoch(), "all 12 epochs are done"));
  }
}

TEST_CASE("adapt: body and head train, and the start is what it should be", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::plain);
  const AdaptData data = test::small_task(model.shape, kClasses, 24, 0);
  for (const AdaptMethod method : kMethods) {
    AdaptTraining training = begin(model, quick_settings(method, 1), data);
    const AdaptParameters start = training.parameters();
    finish(training);
    for (const AdaptSlice& slice : start.slices) {
      CAPTURE(slice.name);
      const auto before = start.slice(slice.name), after = training.parameters().slice(slice.name);
      bool has_moved = false;
      for (int i = 0; i < slice.rows * slice.cols; ++i)
        has_moved |= before.data[i] != after.data[i];
      CHECK(has_moved);
    }
    CHECK(std::isnan(training.curves().front().held_out_loss));
  }
}

TEST_CASE("adapt: any number of threads gives the same bits", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::clip);
  const AdaptData data = test::small_task(model.shape, kClasses, 40, 8);
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    AdaptTraining one = begin(model, quick_settings(method, 2), data);
    {
      const test::ThreadCount threads(1);
      finish(one);
    }
    for (const int count : {2, 3}) {
      const test::ThreadCount threads(count);
      AdaptTraining more = begin(model, quick_settings(method, 2), data);
      finish(more);
      CHECK(values_of(one) == values_of(more));
      CHECK(same_curves(one, more));
    }
  }
}

TEST_CASE("adapt: stopped, saved and restored anywhere, it ends with the same bits",
          "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::layer_scale);
  const AdaptData data = test::small_task(model.shape, kClasses, 40, 4);
  for (const AdaptMethod method : kMethods) {
    const AdaptSettings settings = quick_settings(method, 3);
    AdaptTraining whole = begin(model, settings, data);
    finish(whole);
    for (int stop = 1; stop <= 9; ++stop) {  // 3 steps an epoch
      CAPTURE(name(method), stop);
      std::string bytes;
      {
        AdaptTraining killed = begin(model, settings, data);
        int steps = 0;
        bool goes_on = true;
        while (goes_on && !killed.done()) {
          REQUIRE(killed
                      .epoch([&](const AdaptStep& step) {
                        CHECK(step.steps == 3);
                        return goes_on = ++steps < stop;
                      })
                      .ok());
        }
        killed.save(bytes);
      }
      AdaptTraining resumed = begin(model, settings, data);
      REQUIRE(resumed.restore(bytes).ok());
      finish(resumed);
      CHECK(values_of(resumed) == values_of(whole));
      CHECK(same_curves(resumed, whole));
    }
  }
}

TEST_CASE("adapt: a step takes no memory", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::plain);
  AdaptData data = test::small_task(model.shape, kClasses, 36, 0);
  data.pictures = [](std::span<const int>, int, MatrixView<float> tensors) {
    for (int r = 0; r < tensors.rows; ++r) std::fill_n(tensors.row(r), tensors.cols, float(r));
    return Status();
  };
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    AdaptTraining training = begin(model, quick_settings(method, 2), data);
    REQUIRE(training.epoch().ok());  // threads and thread-local room are there now
    std::vector<long> counts;
    counts.reserve(8);
    REQUIRE(training
                .epoch([&](const AdaptStep&) {
                  counts.push_back(test::allocations());
                  return true;
                })
                .ok());
    REQUIRE(counts.size() == 3);
    if (!test::counts_allocations()) continue;
    CHECK(counts[2] == counts[1]);
  }
}

TEST_CASE("adapt: a diverging loss stops, and the last good parameters are kept",
          "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::plain);
  AdaptData data = test::small_task(model.shape, kClasses, 24, 0);
  const AdaptPictures pictures = data.pictures;
  data.pictures = [&](std::span<const int> samples, int epoch, MatrixView<float> tensors) {
    ENGRAM_TRY(pictures(samples, epoch, tensors));
    if (epoch == 1) tensors(0, 0) = std::numeric_limits<float>::quiet_NaN();
    return Status();
  };
  AdaptTraining training = begin(model, quick_settings(AdaptMethod::ssf), data);
  REQUIRE(training.epoch().ok());
  const std::vector<float> good = values_of(training);
  const Status status = training.epoch();
  CHECK(status.code() == Code::bad_data);
  CHECK(test::says(status, "diverged in epoch 2, step 1"));
  CHECK(test::says(status, "parameters of epoch 1 are kept"));
  CHECK(test::says(status, "such as 0.01"));
  CHECK(values_of(training) == good);
  CHECK(training.epochs_done() == 1);

  AdaptSettings wild = quick_settings(AdaptMethod::adaptformer, 20);
  wild.learning_rate = 900;
  AdaptTraining lost = begin(model, wild, test::small_task(model.shape, kClasses, 24, 0));
  Status end;
  while (end.ok() && !lost.done()) end = lost.epoch();
  CHECK(test::says(end, "diverged"));
  for (const float value : values_of(lost)) CHECK(std::isfinite(value));
}

TEST_CASE("adapt: a picture that cannot be read stops the step, which can be tried again",
          "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::plain);
  const AdaptData good = test::small_task(model.shape, kClasses, 36, 6);
  const AdaptSettings settings = quick_settings(AdaptMethod::vpt, 2);
  AdaptTraining whole = begin(model, settings, good);
  finish(whole);
  AdaptData data = good;
  int calls = 0;
  data.pictures = [&](std::span<const int> samples, int epoch, MatrixView<float> tensors) {
    if (++calls % 4 == 0) return Status(Code::io_failure, "The disk is gone.");
    return good.pictures(samples, epoch, tensors);
  };
  AdaptTraining training = begin(model, settings, data);
  int failures = 0;
  while (!training.done()) {
    const Status status = training.epoch();
    if (status.ok()) continue;
    CHECK(test::says(status, "The disk is gone."));
    REQUIRE(++failures < 100);
  }
  CHECK(failures > 1);
  CHECK(values_of(training) == values_of(whole));
}

TEST_CASE("adapt: features by what was trained", "[engine][adapt]") {
  const VitModel model = test::small_vit(test::VitKind::clip);
  const AdaptData data = test::small_task(model.shape, kClasses, 24, 0);
  AdaptTraining training = begin(model, quick_settings(AdaptMethod::ssf, 1), data);
  const int size = 3 * model.shape.image * model.shape.image, l = model.shape.features;
  const std::vector<float> pictures = test::random_pictures(model.shape, 7);
  std::vector<float> before(std::size_t(7 * l)), after(before.size());
  REQUIRE(training.features({pictures.data(), 7, size, size}, {before.data(), 7, l, l}).ok());
  finish(training);
  REQUIRE(training.features({pictures.data(), 7, size, size}, {after.data(), 7, l, l}).ok());
  CHECK(before != after);
  for (const float value : after) CHECK(std::isfinite(value));
}

}  // namespace engram
