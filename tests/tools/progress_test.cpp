#include "tools/console/progress.h"

#include "tests/support/catch.h"
#include "tools/console/terminal.h"

namespace engram {

TEST_CASE("a bar shows share, count, rate and time left", "[tools][progress]") {
  const std::string line = render_progress({"learn", "img", 50, 100, 2.0}, 80);
  REQUIRE(line == "learn  ━━━━━━━━━━━━────────────  50/100  25 img/s  2 s left");
}

TEST_CASE("a finished bar has nothing left", "[tools][progress]") {
  const std::string line = render_progress({"learn", "img", 100, 100, 4.0}, 80);
  REQUIRE(line.find("left") == std::string::npos);
  REQUIRE(line.find("─") == std::string::npos);
}

TEST_CASE("a bar never takes more columns than there are", "[tools][progress]") {
  for (int columns = 1; columns < 100; ++columns) {
    REQUIRE(display_width(render_progress({"learn", "img", 7, 1000, 3}, columns)) <= columns);
    REQUIRE(display_width(render_progress({"solve", "", 0, 0, 3}, columns)) <= columns);
  }
}

TEST_CASE("who knows better says what is left", "[tools][progress]") {
  const std::string line =
      render_progress({"engine", "", 25, 100, 9, "25 %, about 2 min left"}, 80);
  REQUIRE(line == "engine  ━━━━━━──────────────────  25 %, about 2 min left");
}

TEST_CASE("nothing done yet promises no time", "[tools][progress]") {
  REQUIRE(render_progress({"learn", "img", 0, 9, 1.0}, 60).find("left") == std::string::npos);
}

TEST_CASE("words may be said beside a bar, wherever it goes", "[tools][progress]") {
  Progress progress(true, "learn");
  progress.expect(3);
  progress.advance(2);
  int said = 0;
  progress.without_bar([&] { ++said; });
  progress.finish();
  progress.without_bar([&] { ++said; });
  REQUIRE(said == 2);
}

TEST_CASE("durations are told as people tell them", "[tools][progress]") {
  REQUIRE(duration_text(0.314) == "0.31 s");
  REQUIRE(duration_text(12.4) == "12 s");
  REQUIRE(duration_text(185) == "3 min 05 s");
  REQUIRE(duration_text(7800) == "2 h 10 min");
}

}  // namespace engram
