// The camera app when disk, camera or machine fail: a sentence, and the picture goes on.
#include <filesystem>
#include <fstream>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

Order learn(const std::string& label) {
  Order order;
  order.label = label;
  return order;
}

bool happened(const Live& live, const std::string& kind, const std::string& words) {
  const LiveState state = live.state();
  return std::any_of(state.events.begin(), state.events.end(), [&](const LiveEvent& event) {
    return event.kind == kind && says(event.text, words);
  });
}

bool goes_on(const Live& live) {
  const auto now = live.sight();
  return now != nullptr && live.wait(now->frame.number, std::chrono::seconds(5)) != nullptr;
}

}  // namespace

TEST_CASE("a full disk is told, loses nothing, and is forgotten when there is room again",
          "[tools][live]") {
  LiveDesk desk;
  {
    const auto live = desk.start();
    REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
    REQUIRE(live->carry_out(learn("red")).status.ok());
    desk.files.is_full = true;
    const OrderResult refused = live->carry_out(learn("red"));
    CHECK(refused.status.code() == Code::io_failure);
    CHECK(live->state().samples == 1);
    CHECK(says(live->state().fault, "No space left"));
    CHECK(happened(*live, "fault", "No space left"));
    Order undo;
    undo.kind = Order::Kind::undo;
    CHECK(live->carry_out(undo).status.code() == Code::io_failure);
    CHECK(live->state().samples == 1);
    REQUIRE(goes_on(*live));
    CHECK_FALSE(see(*live, [](const Sight& seen) { return !seen.answers.empty(); }) == nullptr);
    desk.files.is_full = false;
    CHECK(live->carry_out(learn("red")).status.ok());
    CHECK(live->state().fault.empty());
  }
  REQUIRE(desk.on_disk().size() == 1);
  CHECK(desk.on_disk()[0].samples == 2);
}

TEST_CASE("a first sample that cannot answer yet is kept", "[tools][live]") {
  LiveDesk desk;
  auto options = desk.options();
  options.quiet = std::chrono::hours(1);
  const auto live = desk.start(options);
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  desk.files.is_full = true;
  CHECK_FALSE(live->carry_out(learn("red")).status.ok());
  CHECK(live->state().samples == 0);
  desk.files.is_full = false;
  CHECK(live->carry_out(learn("red")).status.ok());
  desk.files.is_full = true;  // no task can end now
  Order end;
  end.kind = Order::Kind::end_task;
  CHECK(live->carry_out(end).status.code() == Code::io_failure);
  CHECK_FALSE(live->state().fault.empty());
  live->stop();
  desk.files.is_full = false;
}

TEST_CASE("a camera that goes is told, and comes back", "[tools][live]") {
  LiveDesk desk;
  desk.scene->lose();
  const auto live = desk.start();  // no camera yet is no error
  CHECK(eventually([&] { return happened(*live, "camera", "pulled the plug"); }));
  CHECK(live->carry_out(learn("red")).status.code() == Code::not_found);
  desk.scene->show(kRed);
  CHECK(eventually([&] { return live->state().feed.kind == FeedState::Kind::live; }));
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  CHECK(live->carry_out(learn("red")).status.ok());
  desk.scene->lose();
  CHECK(eventually([&] { return live->state().feed.kind == FeedState::Kind::lost; }));
  CHECK(says(live->carry_out(learn("red")).status, "pulled the plug"));
  desk.scene->show(kGreen);
  CHECK(see(*live, [](const Sight& seen) { return shows(seen, kGreen); }) != nullptr);
  CHECK(eventually([&] { return happened(*live, "camera", "back"); }));
  CHECK(live->state().samples == 1);
}

TEST_CASE("a hot machine is looked at less", "[tools][live]") {
  LiveDesk desk;
  const std::string zone = desk.folder / "sys/class/thermal/thermal_zone0";
  std::filesystem::create_directories(zone);
  std::ofstream(zone + "/temp") << "91000\n";
  auto options = desk.options();
  options.machine_root = desk.folder.path();
  auto live = desk.start(options);
  CHECK(eventually([&] { return live->state().throttled; }));
  CHECK(eventually([&] { return happened(*live, "heat", "91 °C"); }));
  CHECK(live->state().temperature == 91);
  live.reset();
  options.hottest = 95;
  const auto cool = desk.start(options);
  CHECK(eventually([&] { return cool->state().temperature == 91; }));
  CHECK_FALSE(cool->state().throttled);
}
