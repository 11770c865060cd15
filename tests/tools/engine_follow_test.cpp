#include "tools/service/engine_follow.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

// A service that says one thing after another; the last again and again.
class Told {
 public:
  explicit Told(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  EngineFollow follow(bool look_on) {
    return {.ask = [this]() -> Result<ServiceState> {
              const std::string line = lines_[std::min(asked_++, lines_.size() - 1)];
              if (line.empty()) return Status(Code::internal, "systemctl show failed");
              ServiceState state;
              state.active = line == "stopped" ? "inactive" : "active";
              state.status = line;
              return state;
            },
            .pause = std::chrono::milliseconds(1),
            .look_on = look_on};
  }
  std::size_t asked() const { return asked_; }

 private:
  std::vector<std::string> lines_;
  std::size_t asked_ = 0;
};

constexpr const char* kBegun = "live; building the GPU's engine: 1 %, the CPU answers";
constexpr const char* kHalf =
    "live; building the GPU's engine: 50 %, about 2 min left, the CPU answers";

std::string followed(Told& told, bool look_on = true, bool quiet = false) {
  Console console;
  console.configure(true, quiet);  // JSON: nothing is written between the test's own lines
  return follow_engine(console, told.follow(look_on));
}

}  // namespace

TEST_CASE("engine_follow: until it is there", "[tools][engine_follow]") {
  Told told({"live; opening the GPU's engine, the CPU answers", kBegun, kHalf, kHalf,
             "live, 3 classes; the GPU answers"});
  CHECK(followed(told) == "live, 3 classes; the GPU answers");
  CHECK(told.asked() == 5);
}

TEST_CASE("engine_follow: until it is given up, or the service is gone", "[tools][engine_follow]") {
  Told given_up({kBegun, "live; without the GPU: it crashed. The CPU answers."});
  CHECK(test::says(followed(given_up), "it crashed"));
  Told stopped({kBegun, kHalf, "stopped"});
  CHECK(test::says(followed(stopped), "does not run any more"));
  Told silent({kBegun, ""});
  CHECK(test::says(followed(silent), "does not run any more"));
}

TEST_CASE("engine_follow: nothing to build, nothing to say", "[tools][engine_follow]") {
  for (const char* line : {"live, 3 classes", "live; the GPU answers", "stopped", ""}) {
    Told told({line});
    CHECK(followed(told).empty());
    CHECK(told.asked() == 1);
  }
}

TEST_CASE("engine_follow: nobody looks on, nobody waits", "[tools][engine_follow]") {
  Told told({kHalf});
  CHECK(test::says(followed(told, false), "50 %, about 2 min left"));
  CHECK(told.asked() == 1);
  Told quiet({kHalf});
  CHECK(test::says(followed(quiet, true, true), "engram service status"));
  CHECK(quiet.asked() == 1);
}

}  // namespace engram
