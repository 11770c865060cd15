#include "tools/live/live.h"

#include <atomic>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

Order order(Order::Kind kind, const std::string& label = "", const std::string& other = "") {
  Order order;
  order.kind = kind;
  order.label = label;
  order.other = other;
  return order;
}

// Shows it, learns it.
void teach(LiveDesk& desk, Live& live, const std::string& label, Colour colour) {
  desk.scene->show(colour);
  const auto sight = see(live, [&](const Sight& seen) { return shows(seen, colour); });
  REQUIRE(sight != nullptr);
  const OrderResult result = live.carry_out(learn(label, sight));
  REQUIRE(result.status.ok());
  CHECK_FALSE(result.skipped);
  CHECK(result.durable_ms <= result.known_ms);
}

// What is said of it by everything learned until now.
std::string answer(LiveDesk& desk, Live& live, Colour colour) {
  desk.scene->show(colour);
  const std::uint64_t revision = live.state().revision;
  const auto sight = see(
      live, [&](const Sight& seen) { return shows(seen, colour) && seen.revision >= revision; });
  REQUIRE(sight != nullptr);
  return sight->answers.empty() ? "" : sight->answers.front().label;
}

std::vector<std::int64_t> counts(const LiveState& state) {
  std::vector<std::int64_t> samples;
  for (const LiveClass& taught : state.classes) samples.push_back(taught.samples);
  return samples;
}

}  // namespace

TEST_CASE("what is shown with a name is known to the next frame, and on the disk",
          "[tools][live]") {
  LiveDesk desk;
  {
    const auto live = desk.start();
    CHECK(answer(desk, *live, kRed) == "");
    teach(desk, *live, "red", kRed);
    CHECK_FALSE(live->state().says_unknown);  // everything is red
    CHECK(to_json(live->state())["says_unknown"] == false);
    teach(desk, *live, "green", kGreen);
    CHECK(answer(desk, *live, kRed) == "red");
    CHECK(answer(desk, *live, kGreen) == "green");
    teach(desk, *live, "blue", kBlue);
    CHECK(answer(desk, *live, kBlue) == "blue");
    teach(desk, *live, "red", kRed);
    CHECK(counts(live->state()) == std::vector<std::int64_t>{2, 1, 1});
    CHECK(eventually([&] { return live->state().open_samples == 0; }));  // it was quiet
    CHECK(eventually([&] { return !live->state().digest.empty(); }));
    const LiveState state = live->state();
    CHECK(state.says_unknown);
    CHECK(see(*live, [](const Sight& seen) { return seen.says_unknown; }) != nullptr);
    CHECK(state.classes[0].judged == 2);
    CHECK(state.accuracy >= 0);
    CHECK_FALSE(state.hints.empty());  // green has 1 sample
    CHECK(state.fault.empty());
    CHECK(state.feed.kind == FeedState::Kind::live);
    CHECK(to_json(state)["classes"][2]["label"] == "blue");
    CHECK_FALSE(live->sight()->answers.empty());

    teach(desk, *live, "red", kRed);
    LiveState after;
    CHECK(eventually([&] { return (after = live->state()).samples == state.samples + 1; }));
    CHECK(after.digest != state.digest);  // which is no longer that of what was learned
  }
  CHECK(desk.on_disk().size() == 3);
  const auto again = desk.start();
  CHECK(answer(desk, *again, kBlue) == "blue");
}

TEST_CASE("orders are carried out in order, one at a time, and only so many wait",
          "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  std::mutex gate;
  std::atomic<bool> is_first_done{false};
  std::vector<int> done;
  gate.lock();  // until this opens the teaching thread stays with the first one
  const auto first = [&](const OrderResult&) {
    is_first_done = true;
    const std::lock_guard hold(gate);
  };
  REQUIRE(live->submit(learn("first"), first).ok());
  REQUIRE(eventually([&] { return is_first_done.load(); }));
  CHECK(live->state().learning);
  int taken = 0;
  Status refused;
  while (refused.ok() && taken < 100) {
    refused = live->submit(learn("class " + std::to_string(taken % 7)),
                           [&done, taken](const OrderResult& result) {
                             if (result.status.ok()) done.push_back(taken);
                           });
    if (refused.ok()) ++taken;
  }
  CHECK(refused.code() == Code::busy);
  CHECK(taken == 32);
  gate.unlock();
  CHECK(eventually([&] { return !live->state().learning; }));
  live->stop();
  REQUIRE(int(done.size()) == taken);
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(live->submit(learn("late"), nullptr).code() == Code::busy);
}

TEST_CASE("what was taught is taken back, named otherwise, forgotten", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  const auto does = [&](const Order& what) { return live->carry_out(what); };
  CHECK(does(order(Order::Kind::undo)).status.code() == Code::invalid_argument);
  CHECK(does(order(Order::Kind::end_task)).status.code() == Code::not_found);
  teach(desk, *live, "red", kRed);
  teach(desk, *live, "green", kGreen);
  teach(desk, *live, "blue", kBlue);
  CHECK(says(does(order(Order::Kind::undo)).said, "undone: learn blue (1 sample)"));
  CHECK(answer(desk, *live, kBlue) != "blue");
  CHECK(says(does(order(Order::Kind::relabel, "grass")).said, "from green to grass"));
  CHECK(answer(desk, *live, kGreen) == "grass");
  CHECK(does(order(Order::Kind::rename, "red", "rose")).status.ok());
  CHECK(answer(desk, *live, kRed) == "rose");
  CHECK(does(order(Order::Kind::rename, "red", "rose")).status.code() == Code::not_found);
  CHECK(does(order(Order::Kind::forget, "grass")).status.ok());
  CHECK(answer(desk, *live, kGreen) == "rose");
  CHECK(says(does(order(Order::Kind::end_task)).said, "lambda"));
  CHECK(does(order(Order::Kind::undo)).status.ok());
  CHECK(answer(desk, *live, kRed) == "");  // as new
  CHECK(live->state().samples == 0);
  CHECK(live->state().fault.empty());
  const OrderResult refused = does(learn(""));
  CHECK(refused.status.code() == Code::invalid_argument);
  CHECK(live->state().events.back().failed);
}

TEST_CASE("a held key teaches only what is new", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  const auto hold = [&](Colour colour) {
    desk.scene->show(colour);
    Order held = learn("thing", see(*live, [&](const Sight& seen) { return shows(seen, colour); }));
    held.burst = true;
    return live->carry_out(held);
  };
  CHECK_FALSE(hold(kRed).skipped);
  for (int i = 0; i < 5; ++i) CHECK(hold(kRed).skipped);
  CHECK_FALSE(hold(kGreen).skipped);
  CHECK(hold({201, 21, 20}).skipped);                    // seen before in this burst
  CHECK_FALSE(live->carry_out(learn("thing")).skipped);  // a tap is a tap
  CHECK(live->state().samples == 3);
}

TEST_CASE("stopping loses no tap that was taken", "[tools][live]") {
  LiveDesk desk;
  std::atomic<int> learned{0}, refused{0};
  {
    const auto live = desk.start();
    REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
    for (int i = 0; i < 20; ++i) {
      REQUIRE(live->submit(learn("red"),
                           [&](const OrderResult& result) {
                             ++(result.status.ok() ? learned : refused);
                           })
                  .ok());
    }
    live->stop();
  }
  CHECK(learned + refused == 20);
  std::int64_t kept = 0;
  for (const ClassInfo& info : desk.on_disk()) kept += info.samples;
  CHECK(kept == learned);
}

TEST_CASE("pause, mirror and region change what is looked at", "[tools][live]") {
  LiveDesk desk;
  if (GENERATE(false, true)) desk.scene->become_nv12();
  const auto live = desk.start();
  teach(desk, *live, "red", kRed);
  teach(desk, *live, "green", kGreen);
  desk.scene->show(kRed, kGreen);
  const auto sees = [&](const std::string& label) {
    return see(*live, [&](const Sight& sight) {
             return !sight.answers.empty() && sight.answers[0].label == label;
           }) != nullptr;
  };
  live->set_view(false, {0, 0, 500, 1000});
  CHECK(sees("red"));
  live->set_view(true, {0, 0, 500, 1000});
  CHECK(sees("green"));
  CHECK(shows(*live->sight(), kGreen));
  live->set_view(false, {500, 0, 99999, 99999});
  CHECK(sees("green"));
  CHECK(live->state().region[2] == 500);
  live->pause(true);
  const auto blind = see(*live, [](const Sight& sight) { return sight.features.empty(); });
  REQUIRE(blind != nullptr);
  CHECK(blind->answers.empty());
  CHECK(live->carry_out(learn("red", blind)).status.code() == Code::not_found);
  live->pause(false);
  CHECK(sees("green"));
}

TEST_CASE("what one desk learned is carried to another", "[tools][live]") {
  LiveDesk there, here;
  const std::string file = here.folder / "carried";
  {
    const auto live = there.start();
    teach(there, *live, "red", kRed);
    CHECK(live->export_to(file).ok());
    CHECK_FALSE(live->export_to(there.folder / "no/such/folder/file").ok());
  }
  const auto live = here.start();
  teach(here, *live, "green", kGreen);
  const Order merge = order(Order::Kind::merge, "", file);
  CHECK(says(live->carry_out(merge).said, "merged: 1 sample of red"));
  CHECK(answer(here, *live, kRed) == "red");
  CHECK(answer(here, *live, kGreen) == "green");
  CHECK_FALSE(live->carry_out(merge).status.ok());  // it is in it already
  CHECK(live->state().samples == 2);
}

TEST_CASE("faces may ask at any time", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  std::atomic<bool> stop{false};
  std::vector<std::thread> faces;
  for (int i = 0; i < 2; ++i) {
    faces.emplace_back([&] {
      std::uint64_t after = 0;
      while (!stop) {
        if (const auto sight = live->wait(after, std::chrono::milliseconds(5))) {
          after = sight->frame.number;
        }
        (void)to_json(live->state());
        (void)live->changes();
      }
    });
  }
  for (int i = 0; i < 60; ++i) {
    const Colour colour{(i * 70) % 250, (i * 40) % 250, (i * 90) % 250};
    desk.scene->show(colour);
    CHECK(live->carry_out(learn("class " + std::to_string(i % 4))).status.ok());
    if (i % 10 == 9) CHECK(live->carry_out(order(Order::Kind::undo)).status.ok());
    live->set_view(i % 2 == 0, {});
  }
  CHECK(live->state().samples == 54);
  stop = true;
  for (std::thread& face : faces) face.join();
}
