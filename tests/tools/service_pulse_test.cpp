// The camera app as its service manager sees it: alive with and without a camera, but not in an order that hangs.
#include "tools/live/service_pulse.h"

#include <future>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"

namespace engram {

TEST_CASE("service_pulse: one line of what matters", "[tools][service]") {
  LiveState state;
  state.feed.kind = FeedState::Kind::live;
  state.classes.resize(1);
  state.samples = 1200;
  REQUIRE(service_status(state) == "live, 1 class, 1 200 samples");
  state.feed.frames_per_second = 17;  // changes all the time
  REQUIRE(service_status(state) == "live, 1 class, 1 200 samples");
  state.feed.kind = FeedState::Kind::lost;
  state.feed.why = "unplugged";
  state.fault = "the disk is full";
  REQUIRE(service_status(state) ==
          "the disk is full; camera lost: unplugged, 1 class, 1 200 samples");
  state.fault.clear();
  state.feed.kind = FeedState::Kind::live;
  state.engine = {.kind = EngineState::Kind::building, .fraction = 0.4199, .seconds_left = 100};
  REQUIRE(service_status(state) ==
          "live, 1 class, 1 200 samples; building the GPU's engine: 41 %, about 2 min left, the "
          "CPU answers");
}

TEST_CASE("service_pulse: ready with the first look, or when the camera is missing",
          "[tools][service]") {
  test::LiveDesk desk;
  const bool is_there = GENERATE(true, false);
  if (!is_there) desk.scene->lose();
  const auto live = desk.start();
  REQUIRE(test::eventually([&] { return service_pulse(*live).answers; }));
  REQUIRE((live->sight() != nullptr) == is_there);
  REQUIRE(test::says(service_pulse(*live).status, is_there ? "live" : "somebody pulled the plug"));
  // Both threads go on, whether there is something to look at or not.
  const ServicePulse before = service_pulse(*live);
  REQUIRE(test::eventually([&] { return service_pulse(*live).look > before.look + 2; }));
  REQUIRE(test::eventually([&] { return service_pulse(*live).teach > before.teach; }));
}

TEST_CASE("service_pulse: an order that hangs is seen", "[tools][service]") {
  test::LiveDesk desk;
  const auto live = desk.start();
  REQUIRE(test::see(*live, [](const Sight&) { return true; }) != nullptr);
  std::promise<void> hangs, goes_on;
  REQUIRE(live->submit(test::learn("mug"),
                       [&](const OrderResult&) {
                         hangs.set_value();
                         goes_on.get_future().wait();
                       })
              .ok());
  hangs.get_future().wait();
  const std::uint64_t stood = service_pulse(*live).teach;
  const std::uint64_t looked = service_pulse(*live).look;
  REQUIRE(test::eventually([&] { return service_pulse(*live).look > looked + 20; }));
  REQUIRE(service_pulse(*live).teach == stood);
  goes_on.set_value();
  REQUIRE(test::eventually([&] { return service_pulse(*live).teach > stood; }));
}

}  // namespace engram
