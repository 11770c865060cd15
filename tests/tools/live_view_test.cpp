// Mirror and region, from start to start.
#include <fstream>
#include <future>

#include "tests/support/live_desk.h"
#include "tests/support/says.h"
#include "tools/live/chosen_view.h"

using namespace engram;
using namespace engram::test;

TEST_CASE("mirror and region stay with the state", "[tools][live]") {
  LiveDesk desk;
  const Region half{0, 0, 500, 1000};
  const auto looks_at = [](const Live& live, bool mirror, const Region& region) {
    const LiveState state = live.state();
    return state.mirror == mirror &&
           Region{state.region[0], state.region[1], state.region[2], state.region[3]} == region;
  };
  {
    const auto live = desk.start();
    CHECK(looks_at(*live, false, {}));
    std::promise<Status> kept;
    live->set_view(true, half, [&](const OrderResult& result) { kept.set_value(result.status); });
    CHECK(looks_at(*live, true, half));  // at once
    CHECK(kept.get_future().get().ok());
  }
  CHECK(looks_at(*desk.start(), true, half));
  auto options = desk.options();
  options.mirror = false;  // what is said at the start counts
  CHECK(looks_at(*desk.start(options), false, half));
  options.region = Region{};
  CHECK(looks_at(*desk.start(options), false, {}));
  CHECK(looks_at(*desk.start(), true, half));

  for (const char* damage :
       {"", "{", "[]", "{\"mirror\":1,\"region\":[0,0,9,9]}",
        "{\"mirror\":true,\"region\":[0,0,9]}", "{\"mirror\":true,\"region\":[-1,0,9,9]}",
        "{\"mirror\":true,\"region\":[600,0,900,9]}"}) {
    INFO(damage);
    std::ofstream(desk.state() + "/view") << damage;
    CHECK(read_chosen_view(desk.state()).status().code() == Code::bad_data);
  }
  const auto live = desk.start();
  CHECK(looks_at(*live, false, {}));
  CHECK(says(live->state().events.front().text, "is damaged"));
  desk.files.is_full = true;
  std::promise<Status> kept;
  live->set_view(true, half, [&](const OrderResult& result) { kept.set_value(result.status); });
  CHECK(kept.get_future().get().code() == Code::io_failure);
  CHECK(looks_at(*live, true, half));
}
