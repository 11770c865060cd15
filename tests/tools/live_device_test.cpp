// The camera app when its GPU is lost: the CPU goes on, nothing is lost, and it is told.
#include <algorithm>
#include <map>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"
#include "tests/support/staged_simt.h"
#include "tools/live/screen.h"

using namespace engram;
using namespace engram::test;

namespace {

// Shows things and names them; counts what was acknowledged.
struct Teacher {
  void teach(const std::string& label, Colour colour) {
    desk.scene->show(colour);
    REQUIRE(see(live, [&](const Sight& seen) {
              return shows(seen, colour) && !seen.features.empty();
            }) != nullptr);
    Order order;
    order.label = label;
    const OrderResult result = live.carry_out(order);
    CAPTURE(label, result.said);
    CHECK(result.status.ok());
    if (result.status.ok()) ++acknowledged[label];
  }
  bool knows(const std::string& label, Colour colour) {
    desk.scene->show(colour);
    return see(live, [&](const Sight& seen) {
             return shows(seen, colour) && !seen.answers.empty() && seen.answers[0].label == label;
           }) != nullptr;
  }

  LiveDesk& desk;
  Live& live;
  std::map<std::string, std::int64_t> acknowledged = {};
};

std::int64_t count(const Live& live, const std::string& kind) {
  const LiveState state = live.state();
  return std::count_if(state.events.begin(), state.events.end(),
                       [&](const LiveEvent& event) { return event.kind == kind; });
}

// Taught before and after `lose`; what is on the disk then is what was acknowledged.
void goes_on_after(const std::function<void()>& lose) {
  LiveDesk desk;
  const OnSimtDevice on;
  std::map<std::string, std::int64_t> acknowledged;
  {
    const auto live = desk.start();
    Teacher teacher{desk, *live};
    teacher.teach("red", kRed);
    teacher.teach("green", kGreen);
    CHECK(live->state().cpu_because.empty());
    CHECK(count(*live, "gpu") == 0);
    lose();
    for (int round = 0; round < 3; ++round) {
      teacher.teach("red", kRed);
      teacher.teach("green", kGreen);
    }
    teacher.teach("blue", kBlue);
    CHECK(teacher.knows("red", kRed));
    CHECK(teacher.knows("green", kGreen));
    CHECK(teacher.knows("blue", kBlue));
    CHECK(eventually([&] { return count(*live, "gpu") > 0; }));
    const LiveState state = live->state();
    CHECK(says(state.cpu_because, "The GPU was lost: "));
    CHECK(says(state.cpu_because, "The CPU goes on."));
    CHECK(state.fault.empty());
    CHECK(count(*live, "gpu") == 1);
    CHECK(count(*live, "fault") == 0);
    for (const LiveEvent& event : state.events) CHECK(event.failed == (event.kind == "gpu"));
    acknowledged = teacher.acknowledged;
  }
  std::map<std::string, std::int64_t> kept;
  for (const ClassInfo& info : desk.on_disk()) kept[info.label] = info.samples;
  CHECK(kept == acknowledged);
  CHECK(kept == std::map<std::string, std::int64_t>{{"red", 4}, {"green", 4}, {"blue", 1}});
}

}  // namespace

TEST_CASE("a GPU that is lost while it looks or learns: every tap is kept once, and it is told",
          "[tools][live][device]") {
  const int waits = GENERATE(0, 1, 2, 3, 5, 8, 13, 21, 34, 55);
  CAPTURE(waits);
  goes_on_after([&] { simt::lose_device_after(waits); });
}

TEST_CASE("a GPU that turns out to be lost when memory is asked for is no lack of memory",
          "[tools][live][device]") {
  const int allocations = GENERATE(0, 1, 2);  // a new class needs so many
  CAPTURE(allocations);
  goes_on_after([&] { simt::lose_device_at_allocation(allocations); });
}

TEST_CASE("the screen says that the GPU is gone", "[tools][live]") {
  ScreenContent content;
  const auto head = [&] { return draw_screen(content, {.columns = 200, .rows = 24}).front(); };
  CHECK_FALSE(says(head(), "GPU"));
  content.state.cpu_because = "The GPU was lost: it fell out. The CPU goes on.";
  CHECK(says(head(), "without the GPU"));
}
