#include "platform/build_phases.h"

#include "tests/support/catch.h"

using namespace engram;

TEST_CASE("progress follows nested phases and never goes back", "[platform][build_phases]") {
  BuildPhases phases;
  CHECK(phases.fraction() == 0);
  phases.start("all", "", 2);
  phases.start("first", "all", 4);
  phases.step("first", 0);
  CHECK(phases.fraction() == Approx(0.99 * 1 / 8));
  phases.step("first", 2);
  CHECK(phases.fraction() == Approx(0.99 * 3 / 8));
  phases.finish("first");
  CHECK(phases.fraction() == Approx(0.99 * 3 / 8));  // not back to 0
  phases.step("all", 0);
  CHECK(phases.fraction() == Approx(0.99 / 2));
  phases.start("second", "all", 2);
  phases.start("inner", "second", 2);
  phases.step("inner", 0);
  CHECK(phases.fraction() == Approx(0.99 * (0.5 + 0.5 / 4)));
  phases.finish("inner");
  phases.finish("second");
  phases.step("all", 1);
  phases.finish("all");
  CHECK(phases.fraction() == Approx(0.99));
  phases.start("afterthought", "", 1);
  phases.finish("afterthought");
  CHECK(phases.fraction() > 0.99);
  CHECK(phases.fraction() <= 1);
}

TEST_CASE("phases that make no sense do no harm", "[platform][build_phases]") {
  BuildPhases phases;
  phases.step("unknown", 3);
  phases.finish("unknown");
  phases.start("a", "b", 0);  // no steps, no such parent
  phases.start("b", "a", 1);
  phases.start("a", "b", 5);  // a circle
  phases.step("a", 100);
  phases.step("b", -5);
  CHECK(phases.fraction() <= 1);
  CHECK(phases.fraction() >= 0);
}
