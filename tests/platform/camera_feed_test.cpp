// The feed before a camera that does what a script says, and before real addresses.
#include "platform/camera_feed.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <new>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using namespace std::chrono_literals;
using Kind = FeedState::Kind;
using test::says;

constexpr auto kLong = 20s;  // far beyond what anything here takes; never waited for in full

// next() of each opened camera is `act(number of this camera, number of the call)`, both from 1.
using Act = std::function<Result<CameraPicture>(int camera, int call)>;

CameraPicture one_pixel(int red) {
  return CameraPicture({1, 1, {static_cast<std::uint8_t>(red), 0, 0}});
}
Status broken(const char* what = "pulled out") {
  return {Code::io_failure, what};
}

std::atomic<int> cameras_alive{0};

class ScriptedCamera : public Camera {
 public:
  ScriptedCamera(int number, Act act) : number_(number), act_(std::move(act)) { ++cameras_alive; }
  ~ScriptedCamera() override { --cameras_alive; }
  Result<CameraPicture> next() override {
    std::this_thread::sleep_for(100us);
    return act_(number_, ++calls_);
  }

 private:
  int number_, calls_ = 0;
  Act act_;
};

CameraFeed::Open scripted(Act act) {
  return [act = std::move(act), opened = std::make_shared<int>(0)]() {
    return Result<std::unique_ptr<Camera>>(std::make_unique<ScriptedCamera>(++*opened, act));
  };
}

template <class Condition>
bool eventually(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("camera feed: the newest frame, once, in order", "[platform][camera]") {
  CameraFeed feed(scripted([](int, int call) { return one_pixel(call % 256); }));
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const Frame frame = feed.wait(last, kLong);
    REQUIRE(frame.number > last);
    REQUIRE(int(frame.picture->rgb().rgb[0]) == int(frame.number % 256));
    last = frame.number;
  }
  CHECK(feed.state().kind == Kind::live);
  CHECK(feed.state().why.empty());
  CHECK(eventually([&] { return feed.state().frames_per_second > 0; }));
  // Nobody took the frames of this while: only the newest is there, and it is the newest.
  const std::uint64_t then = feed.state().frames;
  REQUIRE(eventually([&] { return feed.state().frames > then + 20; }));
  CHECK(feed.wait(last, kLong).number > then + 20);
  feed.stop();
  const std::uint64_t frames = feed.state().frames;
  CHECK(feed.wait(0, kLong).number == frames);  // what was seen last stays
  CHECK(feed.wait(frames, kLong).number == 0);  // and a call that would wait comes back
}

TEST_CASE("camera feed: 500 times lost and back, nothing leaks", "[platform][camera]") {
  // In turn: fails after a frame, does not open, garbage without end, throws, fails at once.
  const auto act = [](int camera, int call) -> Result<CameraPicture> {
    if (camera % 5 == 3) return Status(Code::bad_data, "half a JPEG");
    if (camera % 5 == 4) throw std::bad_alloc();
    if (camera % 5 == 0 || call > 1) return broken();
    return one_pixel(7);
  };
  auto opened = std::make_shared<std::atomic<int>>(0);
  const CameraFeed::Open open = [=]() -> Result<std::unique_ptr<Camera>> {
    const int number = ++*opened;
    if (number % 5 == 2) return Status(Code::not_found, "no such camera");
    return std::unique_ptr<Camera>(std::make_unique<ScriptedCamera>(number, act));
  };
  const std::size_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  {
    CameraFeed feed(open, 0ms);
    REQUIRE(eventually([&] { return feed.state().reopened >= 500; }));
    CHECK(feed.state().frames > 500);
    CHECK(cameras_alive <= 1);
    CHECK(entries("/proc/self/task") <=
          threads + 1);  // less: one of an earlier test was still ending
  }
  CHECK(cameras_alive == 0);
  CHECK(entries("/proc/self/fd") == files);
  CHECK(eventually([&] { return entries("/proc/self/task") <= threads; }));
}

TEST_CASE("camera feed: says how it was lost, until it is back", "[platform][camera]") {
  std::atomic<bool> there{true};
  CameraFeed feed(scripted([&there](int, int) -> Result<CameraPicture> {
                    if (!there) return broken("pulled out of its socket");
                    return one_pixel(1);
                  }),
                  1ms);
  REQUIRE(eventually([&] { return feed.state().kind == Kind::live; }));
  CHECK(feed.state().reopened == 0);
  there = false;
  REQUIRE(eventually([&] { return feed.state().kind == Kind::lost; }));
  CHECK(says(feed.state().why, "pulled out of its socket"));
  CHECK(feed.state().frames_per_second == 0);
  const std::uint64_t last = feed.state().frames;
  CHECK(feed.wait(last, 20ms).number == 0);
  CHECK(feed.state().kind == Kind::lost);  // however often it is tried in between
  there = true;
  CHECK(feed.wait(last, kLong).number > last);
  CHECK(feed.state().kind == Kind::live);
  CHECK(feed.state().why.empty());
  CHECK(feed.state().reopened == 1);
}

TEST_CASE("camera feed: an opener may remember, and the lost camera is closed before",
          "[platform][camera]") {
  // As who opened a camera already hands it over: once. A copy would hand it over again and again.
  std::atomic<int> still_open{0};
  const auto act = [](int camera, int call) -> Result<CameraPicture> {
    if (camera == 1 && call > 1) return broken();
    return one_pixel(camera);
  };
  CameraFeed feed(
      [&still_open, act, handed_over = 0]() mutable -> Result<std::unique_ptr<Camera>> {
        still_open += cameras_alive;
        return std::unique_ptr<Camera>(std::make_unique<ScriptedCamera>(++handed_over, act));
      },
      1ms);
  CHECK(feed.wait(10, kLong).number > 10);
  CHECK(feed.state().reopened == 1);
  CHECK(still_open == 0);
}

TEST_CASE("camera feed: some garbage is passed over, much is a loss", "[platform][camera]") {
  constexpr int kFew = CameraFeed::kGarbage - 1;
  std::atomic<int> cameras{0};
  CameraFeed feed(scripted([&cameras](int camera, int call) -> Result<CameraPicture> {
                    cameras = camera;
                    const int good_every = camera == 1 && call < 200 ? kFew + 1 : 1'000'000;
                    if (camera > 1 || call % good_every == 0) return one_pixel(camera);
                    return Status(Code::bad_data, "half a JPEG");
                  }),
                  1ms);
  REQUIRE(eventually([&] { return cameras == 2; }));
  const Frame frame = feed.wait(19, kLong);
  REQUIRE(frame.number > 19);  // the first camera gave 19, with garbage between all of them
  CHECK(eventually([&] { return feed.state().reopened == 1; }));
}

TEST_CASE("camera feed: the end of a source is not a loss", "[platform][camera]") {
  CameraFeed feed(scripted([](int, int call) -> Result<CameraPicture> {
    if (call > 3) return Status(Code::not_found, "over");
    return one_pixel(call);
  }));
  REQUIRE(eventually([&] { return feed.state().kind == Kind::ended; }));
  CHECK(feed.state().frames == 3);
  CHECK(feed.wait(2, kLong).number == 3);
  CHECK(feed.wait(3, 1ms).number == 0);
  CHECK(cameras_alive == 0);  // closed already
}

TEST_CASE("camera feed: not yet is neither live nor lost", "[platform][camera]") {
  std::atomic<bool> ready{false};
  std::atomic<int> asked{0};
  CameraFeed feed(scripted([&](int, int) -> Result<CameraPicture> {
    ++asked;
    if (!ready) return Status(Code::busy, "connecting");
    return one_pixel(1);
  }));
  REQUIRE(eventually([&] { return asked > 3; }));
  CHECK(feed.state().kind == Kind::opening);
  ready = true;
  CHECK(feed.wait(0, kLong).number > 0);
  CHECK(feed.state().reopened == 0);
}

TEST_CASE("camera feed: stops while it waits to try again", "[platform][camera]") {
  const CameraFeed::Open open = [] {
    return Result<std::unique_ptr<Camera>>(Status(Code::not_found, "no camera"));
  };
  CameraFeed feed(open, std::chrono::hours(1));
  REQUIRE(eventually([&] { return feed.state().kind == Kind::lost; }));
  std::thread waiting([&feed] { CHECK(feed.wait(0, std::chrono::hours(1)).number == 0); });
  feed.stop();  // would last an hour, twice, if it did not wake them
  waiting.join();
  feed.stop();
}

TEST_CASE("camera feed: a real address that fails and stalls", "[platform][camera]") {
  const std::string uri =
      "test://?width=16&height=16&fps=0&fail_every=9&garbage_every=4&stall_every=1000000";
  CameraFeed feed([uri] { return open_camera(uri); }, 1ms);
  REQUIRE(eventually([&] { return feed.state().reopened >= 20; }));
  CHECK(feed.state().frames >= 20 * 6);
}

}  // namespace engram
