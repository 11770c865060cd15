#include "platform/backbone_switching.h"

#include <chrono>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_backbone.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;
using Answers = SwitchingBackbone::Answers;

namespace {

constexpr float kCpu = 100;

std::unique_ptr<Backbone> backbone(float value, int runs_left = -1, int features = 2) {
  auto made = std::make_unique<FakeBackbone>(3, features, value);
  made->runs_left = runs_left;
  return made;
}

// The value that five pictures get; all the same, or the test fails.
float asked(Backbone& one) {
  const std::vector<float> inputs(15, 1.0f);
  std::vector<float> features(10, -1.0f);
  REQUIRE(one.run({inputs.data(), 5, 3, 3}, {features.data(), 5, 2, 2}).ok());
  for (const float feature : features) CHECK(feature == features[0]);
  return features[0];
}

}  // namespace

TEST_CASE("the CPU answers until the faster one is ready", "[platform][switching]") {
  std::promise<void> go;
  SwitchingBackbone both(backbone(kCpu), [&](const std::atomic<bool>&, const OnBuild&) {
    go.get_future().wait();
    return Result<std::unique_ptr<Backbone>>(backbone(kCpu + 1));
  });
  CHECK(both.answers() == Answers::cpu_meanwhile);
  CHECK(asked(both) == kCpu);
  go.set_value();
  both.wait();
  CHECK(asked(both) == kCpu + 1);
  CHECK(asked(both) == kCpu + 1);
  CHECK(both.answers() == Answers::faster);
  CHECK(both.note().empty());
}

TEST_CASE("how far the building is can be seen at any time", "[platform][switching]") {
  using Kind = EngineState::Kind;
  std::promise<void> begun, told, go;
  SwitchingBackbone both(backbone(kCpu), [&](const std::atomic<bool>&, const OnBuild& on_build) {
    begun.get_future().wait();
    on_build({.fraction = 0.25, .seconds = 10, .seconds_left = 30});
    told.set_value();
    go.get_future().wait();
    return Result<std::unique_ptr<Backbone>>(backbone(kCpu + 1));
  });
  CHECK(both.state().kind == Kind::opening);
  begun.set_value();
  told.get_future().wait();
  CHECK(both.state().kind == Kind::building);
  CHECK(both.state().fraction == 0.25);
  CHECK(both.state().seconds_left == 30);
  go.set_value();
  both.wait();
  CHECK(both.state().kind == Kind::building);  // it has not answered yet
  CHECK(asked(both) == kCpu + 1);
  CHECK(both.state().kind == Kind::answers);
}

TEST_CASE("a faster one that cannot be had leaves the CPU answering", "[platform][switching]") {
  SwitchingBackbone refused(backbone(kCpu), [](const std::atomic<bool>&, const OnBuild&) {
    return Result<std::unique_ptr<Backbone>>(
        Status(Code::not_supported, "there is no GPU in this machine"));
  });
  refused.wait();
  CHECK(asked(refused) == kCpu);
  CHECK(refused.answers() == Answers::cpu_for_good);
  CHECK(refused.note() == "there is no GPU in this machine. The CPU answers.");
  CHECK(refused.state().kind == EngineState::Kind::given_up);
  CHECK(refused.state().why == refused.note());

  SwitchingBackbone thrown(
      backbone(kCpu),
      [](const std::atomic<bool>&, const OnBuild&) -> Result<std::unique_ptr<Backbone>> {
        throw std::runtime_error("out of luck");
      });
  thrown.wait();
  CHECK(asked(thrown) == kCpu);
  CHECK(says(thrown.note(), "out of luck"));
}

TEST_CASE("a GPU that is lost in the middle loses no frame", "[platform][switching]") {
  const int runs = GENERATE(0, 1, 2, 3);  // before it fails; the first compares with the CPU
  SwitchingBackbone both(backbone(kCpu), [&](const std::atomic<bool>&, const OnBuild&) {
    return Result<std::unique_ptr<Backbone>>(backbone(kCpu + 1, runs));
  });
  both.wait();
  for (int call = 0; call < 4; ++call) {
    const bool alive = runs >= call + 2;
    CHECK(asked(both) == (alive ? kCpu + 1 : kCpu));
  }
  CHECK(both.answers() == Answers::cpu_for_good);
  CHECK(says(both.note(), "the GPU was lost. The CPU answers."));
}

TEST_CASE("an engine that computes something else is not believed", "[platform][switching]") {
  const float value = GENERATE(kCpu * 2, 0.0f, -kCpu, std::numeric_limits<float>::quiet_NaN());
  SwitchingBackbone both(backbone(kCpu), [&](const std::atomic<bool>&, const OnBuild&) {
    return Result<std::unique_ptr<Backbone>>(backbone(value));
  });
  both.wait();
  CHECK(asked(both) == kCpu);
  CHECK(both.answers() == Answers::cpu_for_good);
  CHECK(says(both.note(), "other features than the model"));

  SwitchingBackbone narrow(backbone(kCpu), [&](const std::atomic<bool>&, const OnBuild&) {
    return Result<std::unique_ptr<Backbone>>(backbone(kCpu, -1, 1));
  });
  narrow.wait();
  CHECK(asked(narrow) == kCpu);
  CHECK(says(narrow.note(), "gives 1 features"));
}

TEST_CASE("who goes does not wait for what is being prepared", "[platform][switching]") {
  bool told_to_stop = false;
  {
    SwitchingBackbone both(backbone(kCpu), [&](const std::atomic<bool>& stop, const OnBuild&) {
      while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      told_to_stop = true;
      return Result<std::unique_ptr<Backbone>>(Status(Code::busy, "it was stopped"));
    });
    CHECK(asked(both) == kCpu);
  }
  CHECK(told_to_stop);
}
