#include "platform/recorded_tensorrt.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/fake_cuda_driver.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

// A backbone before a camera: the picture is always at the same place, and so are the features.
struct Camera {
  Camera() : driver(fake_cuda_driver()) {
    fake_driver_state().integrated = true;
    backbone =
        GpuBackbone::create(driver, find_gpu(driver).value(), std::make_unique<FakeNetwork>())
            .value();
  }
  Status look(float brightness, int pictures = 1) {
    inputs.assign(48, brightness);
    features.assign(8, -1);
    return backbone->run({inputs.data(), pictures, 12, 12}, {features.data(), pictures, 2, 2});
  }

  CudaDriver driver;
  std::unique_ptr<Backbone> backbone;
  std::vector<float> inputs, features;
};

}  // namespace

TEST_CASE("a network that sees the same place again and again is recorded once",
          "[platform][tensorrt]") {
  {
    Camera camera;
    const FakeDriverState& state = fake_driver_state();
    for (int frame = 1; frame <= 10; ++frame) {
      REQUIRE(camera.look(float(frame)).ok());
      CHECK(camera.features[0] == 12.0f * float(frame));
      CHECK(camera.features[1] == 1.0f);
    }
    CHECK(state.recordings == 1);
    CHECK(state.replays == 7);

    REQUIRE(camera.look(2, 3).ok());  // another batch: the recording is of no use any more
    CHECK(camera.features[4] == 24.0f);
    CHECK(camera.features[5] == 3.0f);
    REQUIRE(camera.look(5).ok());
    CHECK(camera.features[0] == 60.0f);
    CHECK(state.replays == 7);
    for (int frame = 0; frame < 5; ++frame) REQUIRE(camera.look(6).ok());
    CHECK(camera.features[0] == 72.0f);
    CHECK(state.recordings == 2);
  }
  CHECK(fake_driver_state().live == 0);
}

TEST_CASE("a network that cannot be recorded runs as it did", "[platform][tensorrt]") {
  const char* const call =
      GENERATE("", "cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate");
  CAPTURE(call);
  {
    Camera camera;
    FakeDriverState& state = fake_driver_state();
    state.network_waits = *call == 0;
    state.fail_call = call;
    state.fail_with = 900;
    for (int frame = 1; frame <= 8; ++frame) {
      REQUIRE(camera.look(float(frame)).ok());
      CHECK(camera.features[0] == 12.0f * float(frame));
    }
    CHECK(state.replays == 0);
    state.network_waits = false;
    state.fail_call.clear();
    REQUIRE(camera.look(1).ok());  // it was tried once and is not tried again
    CHECK(state.recordings == 0);
  }
  CHECK(fake_driver_state().live == 0);
}

TEST_CASE("a recording that does not start is told by its name", "[platform][tensorrt]") {
  Camera camera;
  FakeDriverState& state = fake_driver_state();
  for (int frame = 0; frame < 5; ++frame) REQUIRE(camera.look(1).ok());
  REQUIRE(state.replays > 0);
  state.fail_call = "cuGraphLaunch";
  state.fail_with = 719;
  const Status lost = camera.look(1);
  CHECK(lost.code() == Code::device_failure);
  CHECK(says(lost, "cuGraphLaunch"));
}
