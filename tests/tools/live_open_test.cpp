// The camera app on a state that is still being read, and its end while something is computed.
#include <future>

#include "platform/file.h"
#include "tests/support/live_desk.h"
#include "tests/support/says.h"

using namespace engram;
using namespace engram::test;

namespace {

// Two samples of "red", and a task that has ended.
void teach_red(LiveDesk& desk) {
  const auto live = desk.start();
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  for (int i = 0; i < 2; ++i) REQUIRE(live->carry_out(learn("red")).status.ok());
}

}  // namespace

TEST_CASE("what the last task ended with answers while the state is read", "[tools][live]") {
  LiveDesk desk;
  teach_red(desk);
  {
    const auto live = desk.start_unread().value();
    REQUIRE(live->state().classes.size() == 1);
    REQUIRE(see(*live, [](const Sight& seen) {
              return !seen.answers.empty() && seen.answers[0].label == "red";
            }) != nullptr);
    CHECK(Store::reserve(desk.state()).status().code() == Code::busy);
    REQUIRE(live->carry_out(learn("red")).status.ok());  // waits until it is read
    const LiveState state = live->state();
    CHECK_FALSE(state.opening);
    CHECK(state.classes[0].samples == 3);
    CHECK(live->opened().ok());
  }
  CHECK(desk.on_disk()[0].samples == 3);
}

TEST_CASE("a state that cannot be read is refused, and its readout stays", "[tools][live]") {
  LiveDesk desk;
  teach_red(desk);
  const std::string file = desk.state() + "/snapshot";
  auto bytes = read_file(file, 1 << 24).value();
  bytes[bytes.size() / 2] ^= std::byte{1};
  REQUIRE(replace_file(file, bytes).ok());
  const auto live = desk.start_unread();
  if (live.ok()) {  // on a slow machine that shows later: the picture goes on, nothing is learned
    const OrderResult refused = live.value()->carry_out(learn("red"));
    CHECK(refused.status.code() == Code::bad_data);
    CHECK(live.value()->opened().code() == Code::bad_data);
    CHECK(says(live.value()->state().fault, "snapshot"));
    CHECK(see(*live.value(), [](const Sight& seen) { return !seen.answers.empty(); }) != nullptr);
  } else {
    CHECK(live.status().code() == Code::bad_data);
    CHECK(says(live.status(), "snapshot"));
  }
  CHECK(read_readout(desk.state()).ok());
}

TEST_CASE("the end does not wait for an order that takes long", "[tools][live]") {
  LiveDesk desk;
  const auto live = desk.start();
  REQUIRE(see(*live, [](const Sight&) { return true; }) != nullptr);
  std::promise<void> hangs, goes_on;
  REQUIRE(live->submit(learn("red"),
                       [&](const OrderResult&) {
                         hangs.set_value();
                         goes_on.get_future().wait();
                       })
              .ok());
  hangs.get_future().wait();
  CHECK_FALSE(live->stop_or_leave());
  CHECK(desk.on_disk_unlocked() == 1);  // what was acknowledged
  goes_on.set_value();
  live->stop();
  CHECK(live->stop_or_leave());
}
