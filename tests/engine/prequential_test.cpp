#include "engine/prequential.h"

#include <cstring>
#include <limits>

#include "engine/confidence_io.h"
#include "tests/support/catch.h"

namespace engram {
namespace {

ScoreSummary example(float best, bool known) {
  return summarise(std::vector<float>{best, 0.1F, 0.05F, -0.02F}, known ? 0 : -1, 2 * best);
}

}  // namespace

TEST_CASE("prequential: the last ones of each kind are kept, and come back", "[engine][unknown]") {
  Prequential ring;
  for (int i = 0; i < 1300; ++i) ring.add(example(1.0F + float(i), true));
  for (int i = 0; i < 5; ++i) ring.add(example(1.0F + float(i), false));
  REQUIRE(ring.known().size() == Prequential::kRoom);
  CHECK(ring.unknown().size() == 5);
  float least = std::numeric_limits<float>::max();
  for (const ScoreSummary& one : ring.known()) least = std::min(least, one.best);
  CHECK(least == 1301.0F - float(Prequential::kRoom));

  Prequential loaded;
  REQUIRE(loaded.load(ring.save()));
  CHECK(loaded == ring);
  ring.add(example(5000, true));  // the oldest goes, in both
  loaded.add(example(5000, true));
  CHECK(loaded == ring);
}

TEST_CASE("prequential: what a beginner said is set aside once there is better",
          "[engine][unknown]") {
  Prequential ring;
  for (int i = 0; i < 60; ++i) {
    ScoreSummary one = example(float(i), true);
    one.samples = i;
    ring.add(one);
  }
  const auto some = newer(ring.known(), 60, 20);
  REQUIRE(some.size() == 30);
  for (const ScoreSummary& one : some) CHECK(one.samples >= 30);
  CHECK(newer(ring.known(), 60, 31).size() == 60);  // too few: all
  CHECK(newer(ring.known(), 1000, 20).size() == 60);
  CHECK(newer({}, 1000, 20).empty());
}

TEST_CASE("prequential: what is not finite is not kept", "[engine][unknown]") {
  Prequential ring;
  ring.add(example(std::numeric_limits<float>::infinity(), true));
  ScoreSummary unsure = example(0.5F, false);
  unsure.leverage = std::numeric_limits<float>::quiet_NaN();
  ring.add(unsure);
  CHECK(ring.empty());
  CHECK(Prequential().load(ring.save()));
}

TEST_CASE("prequential: bytes of something else are refused", "[engine][unknown]") {
  Prequential ring;
  CHECK(ring.load(ring.save()));
  ring.add(example(0.5F, true));
  std::vector<std::byte> bytes = ring.save();
  Prequential other;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CHECK_FALSE(other.load(std::span(bytes).first(cut)));
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_FALSE(other.load(longer));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + 8, &nan, sizeof nan);
  CHECK_FALSE(other.load(bytes));
  const std::uint32_t many = 1'000'000'000;
  std::memcpy(bytes.data(), &many, sizeof many);
  CHECK_FALSE(other.load(bytes));
  CHECK(other == Prequential{});
}

TEST_CASE("confidence: comes back from its bytes, and only from those", "[engine][unknown]") {
  std::vector<ScoreSummary> known, unknown;
  for (int i = 0; i < 40; ++i) {
    known.push_back(example(0.5F + 0.01F * float(i), true));
    unknown.push_back(example(0.3F + 0.01F * float(i), false));
  }
  const Confidence confidence = fit_confidence(known, unknown, known);
  const std::vector<std::byte> bytes = encode(confidence);
  const auto parsed = parse_confidence(bytes);
  REQUIRE(parsed.has_value());
  CHECK(parsed->beta == confidence.beta);
  CHECK(parsed->known.informative == confidence.known.informative);
  CHECK(parsed->known.threshold(0.05) == confidence.known.threshold(0.05));
  CHECK(parsed->known.log_odds(known[3]) == confidence.known.log_odds(known[3]));
  CHECK(encode(*parsed) == bytes);
  CHECK(parse_confidence(encode(Confidence{})).has_value());

  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    CHECK_FALSE(parse_confidence(std::span(bytes).first(cut)).has_value());
  }
  for (const std::size_t at : {std::size_t{3}, std::size_t{15}, bytes.size() - 1}) {
    std::vector<std::byte> changed = bytes;
    changed[at] = std::byte{0xFF};  // flags, beta, the last quantile
    CHECK_FALSE(parse_confidence(changed).has_value());
  }
}

}  // namespace engram
