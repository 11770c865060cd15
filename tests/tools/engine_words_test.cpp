#include "tools/engine_words.h"

#include "tests/support/catch.h"

namespace engram {

using Kind = EngineState::Kind;

TEST_CASE("engine_words: what people need to know", "[tools][engine_words]") {
  CHECK(engine_words({}).empty());
  CHECK(engine_words({.kind = Kind::opening}) == "opening the GPU's engine, the CPU answers");
  CHECK(engine_words({.kind = Kind::building}) ==
        "building the GPU's engine: 0 %, the CPU answers");
  CHECK(engine_words({.kind = Kind::building, .fraction = 0.5, .seconds_left = 61}) ==
        "building the GPU's engine: 50 %, about 2 min left, the CPU answers");
  CHECK(engine_words({.kind = Kind::building, .fraction = 0.999, .seconds_left = 3}) ==
        "building the GPU's engine: 99 %, less than a minute left, the CPU answers");
  CHECK(engine_words({.kind = Kind::answers}) == "the GPU answers");
  CHECK(engine_words({.kind = Kind::given_up, .why = "no room. The CPU answers."}) ==
        "without the GPU: no room. The CPU answers.");
}

TEST_CASE("engine_words: who follows a service reads them back", "[tools][engine_words]") {
  const std::string before = "live, 2 classes, 9 samples; ";
  for (const double fraction : {0.0, 0.07, 0.41, 1.0}) {
    for (const double left : {-1.0, 180.0}) {
      const EngineState state{.kind = Kind::building, .fraction = fraction, .seconds_left = left};
      const auto read = coming_engine(before + engine_words(state));
      REQUIRE(read);
      CHECK(read->kind == Kind::building);
      CHECK(read->fraction == Approx(fraction));
      CHECK(read->seconds_left == left);
    }
  }
  CHECK(coming_engine(before + engine_words({.kind = Kind::opening}))->kind == Kind::opening);
  CHECK_FALSE(coming_engine(before + engine_words({.kind = Kind::answers})));
  CHECK_FALSE(coming_engine(before + engine_words({.kind = Kind::given_up, .why = "no room"})));
  CHECK_FALSE(coming_engine(before));
  CHECK_FALSE(coming_engine(""));
  // Of a service that says it otherwise: something is being built, nobody knows how far.
  const auto strange = coming_engine("building the GPU's engine: soon");
  REQUIRE(strange);
  CHECK(strange->fraction == 0);
}

}  // namespace engram
