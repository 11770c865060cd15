// The camera app when disk, camera or machine fail: a sentence, and the picture goes on.
#include <filesystem>
#include <fstream>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

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

TEST_CASE("a disk that is well again is found out without an order", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  desk.files.is_full = true;
  REQUIRE_FALSE(live->carry_out(learn("red")).status.ok());
  CHECK_FALSE(eventually([&] { return live->state().fault.empty(); }, 100));
  desk.files.is_full = false;
  CHECK(eventually([&] { return live->state().fault.empty(); }));
  CHECK(happened(*live, "state", "can be written again"));
  CHECK_FALSE(std::filesystem::exists(desk.state() + "/trial"));
}

TEST_CASE("a state that cannot be written answers, and teaches as soon as it can",
          "[tools][live]") {
  LiveDesk desk;
  {
    const auto live = desk.start();
    REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
    REQUIRE(live->carry_out(learn("red")).status.ok());
  }
  auto held = std::make_unique<FileLock>(FileLock::acquire(desk.state() + "/lock").value());
  {
    const auto live = desk.start_read_only(Status(Code::io_failure, "the card is write-protected"));
    REQUIRE(see(*live, [](const Sight& seen) { return !seen.answers.empty(); }) != nullptr);
    CHECK(says(live->state().fault, "write-protected"));
    CHECK(happened(*live, "fault", "write-protected"));
    CHECK(says(live->carry_out(learn("red")).status, "write-protected"));
    CHECK_FALSE(live->export_to(desk.folder / "file").ok());
    bool was_kept = true;
    live->set_view(true, {}, [&](const OrderResult& kept) { was_kept = kept.status.ok(); });
    CHECK_FALSE(was_kept);
    CHECK(live->state().mirror);  // the picture goes on
    REQUIRE(goes_on(*live));
    CHECK(live->opened().ok());
    held.reset();
    CHECK(eventually([&] { return live->state().fault.empty() && !live->state().opening; }));
    CHECK(live->carry_out(learn("red")).status.ok());
  }
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

TEST_CASE("a picture of long ago, or of before the camera went, is not learned", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  const auto seen = see(*live, [](const Sight& sight) { return !sight.features.empty(); });
  REQUIRE(seen != nullptr);
  const auto learn_aged = [&](std::chrono::seconds age) {
    auto sight = std::make_shared<Sight>(*seen);
    sight->frame.taken = std::chrono::steady_clock::now() - age;
    Order order = learn("red");
    order.sight = sight;
    return live->carry_out(order).status;
  };
  REQUIRE(live->wait(seen->frame.number, std::chrono::seconds(5)) != nullptr);  // a newer one
  CHECK(learn_aged(std::chrono::seconds(50)).ok());
  CHECK(says(learn_aged(std::chrono::seconds(61)), "older than a minute"));
  desk.scene->lose();
  REQUIRE(eventually([&] { return live->state().feed.kind == FeedState::Kind::lost; }));
  CHECK(learn_aged(std::chrono::seconds(0)).ok());  // the key went down when the camera did
  CHECK(says(learn_aged(std::chrono::seconds(5)), "pulled the plug"));
  CHECK(learn_aged(std::chrono::seconds(61)).code() == Code::not_found);
  CHECK(live->state().samples == 2);
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

TEST_CASE("a power limit is told, and looked at less", "[tools][live]") {
  LiveDesk desk;
  const std::string monitor = desk.folder / "sys/class/hwmon/hwmon1";
  std::filesystem::create_directories(monitor);
  std::filesystem::create_directories(desk.folder / "var/lib/nvpmodel");
  std::ofstream(desk.folder / "var/lib/nvpmodel/status") << "pmode:0002\n";
  std::ofstream(monitor + "/oc1_event_cnt") << "7\n";
  auto options = desk.options();
  options.machine_root = desk.folder.path();
  const auto live = desk.start(options);
  REQUIRE(eventually([&] { return live->state().power_mode == "pmode:0002"; }));
  CHECK_FALSE(live->state().throttled);  // what was before we came is no event
  std::ofstream(monitor + "/oc1_event_cnt") << "8\n";
  CHECK(eventually([&] { return live->state().throttled; }));
  CHECK(live->state().slowed_by == "power");
  CHECK(eventually([&] { return happened(*live, "power", "power limit"); }));
}
