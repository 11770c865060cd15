// Phase 1 on a device with memory of its own (the emulated one): the CPU's parameters to rounding,
// nothing copied, and what happens when the device has too little memory or is lost.
#include <atomic>
#include <cmath>
#include <thread>

#include "kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/small_task.h"
#include "tests/support/staged_simt.h"
#include "tests/support/worst.h"

namespace engram {
namespace {

constexpr AdaptMethod kMethods[] = {AdaptMethod::adaptformer, AdaptMethod::ssf, AdaptMethod::vpt};

AdaptSettings small_settings(AdaptMethod method) {
  AdaptSettings settings = test::small_settings(method);
  settings.epochs = 2;
  settings.batch = 5;
  settings.micro_batch = 3;
  settings.dropout = 0.1;
  settings.recomputed_blocks = 1;
  return settings;
}

// With the backend in use.
struct Run {
  explicit Run(AdaptMethod method)
      : training(AdaptTraining::create(model, small_settings(method), data, 1 << 30).value()) {}
  std::vector<float> values() const {
    const auto& all = training.parameters().values;
    return {all.begin(), all.end()};
  }

  VitModel model = test::small_vit(test::VitKind::clip);
  AdaptData data = test::small_task(model.shape, 3, 10, 2);
  AdaptTraining training;
};

std::vector<float> trained(AdaptMethod method) {
  Run run(method);
  while (!run.training.done()) REQUIRE(run.training.epoch().ok());
  return run.values();
}

void check_close(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  test::Worst worst;
  for (std::size_t i = 0; i < a.size(); ++i) worst.see(std::abs(double(a[i]) - b[i]));
  CHECK(worst.value() < 1e-5);
}

}  // namespace

TEST_CASE("adapt: a device trains what the CPU does, and nothing is copied", "[engine][device]") {
  for (const AdaptMethod method : kMethods) {
    CAPTURE(name(method));
    const std::vector<float> expected = trained(method);
    const test::OnSimtDevice on;
    const std::size_t before = DeviceStaging::of(simt::kMemory).copied_bytes();
    check_close(trained(method), expected);
    CHECK(DeviceStaging::of(simt::kMemory).copied_bytes() == before);
  }
}

TEST_CASE("adapt: another thread may compute meanwhile, where memory is one side's at a time",
          "[engine][device]") {
  const std::vector<float> expected = trained(AdaptMethod::ssf);
  simt::DeviceTrial trial;
  trial.one_side_at_a_time = true;
  const test::OnSimtDevice on(trial);
  Run run(AdaptMethod::ssf);  // the test fills the model without a hold: while nobody computes
  std::atomic<bool> is_over = false;
  std::atomic<int> failures = 0;
  std::thread other([&] {
    std::vector<float> x(64, 1.0f);
    const MatrixView<float> row{x.data(), 1, 64, 64};
    while (!is_over) {
      failures += chosen_kernels().gelu(Stream{}, row, GeluKind::relu, row).ok() ? 0 : 1;
    }
  });
  std::string bytes;
  while (!run.training.done()) {
    REQUIRE(run.training.epoch().ok());
    run.training.save(bytes);
    REQUIRE(run.training.restore(bytes).ok());
  }
  is_over = true;
  other.join();
  CHECK(failures == 0);
  check_close(run.values(), expected);
}

TEST_CASE("adapt: a device that is lost is told, and the CPU goes on from what was saved",
          "[engine][device]") {
  const std::vector<float> expected = trained(AdaptMethod::vpt);
  std::string bytes;
  {
    const test::OnSimtDevice on;
    Run run(AdaptMethod::vpt);
    REQUIRE(run.training.epoch().ok());
    run.training.save(bytes);
    simt::device_trial().waits_until_lost = 100;
    CHECK(run.training.epoch().code() == Code::device_failure);
    CHECK(run.training.epochs_done() == 1);
  }
  Run run(AdaptMethod::vpt);
  REQUIRE(run.training.restore(bytes).ok());
  REQUIRE(run.training.epoch().ok());
  check_close(run.values(), expected);
}

TEST_CASE("adapt: a device with too little memory is told before anything begins",
          "[engine][device]") {
  const VitModel model = test::small_vit(test::VitKind::plain);
  const AdaptData data = test::small_task(model.shape, 3, 10, 2);
  simt::DeviceTrial trial;
  trial.memory_bytes = 20'000;
  const test::OnSimtDevice on(trial);
  const Status status =
      AdaptTraining::create(model, small_settings(AdaptMethod::ssf), data, 1 << 30).status();
  CHECK(status.code() == Code::out_of_memory);
}

}  // namespace engram
