#include <cmath>

#include "platform/threads.h"
#include "tests/support/catch.h"
#include "tools/live/burst.h"
#include "tools/live/view.h"

using namespace engram;

TEST_CASE("a region is cut out, within the picture", "[tools][live]") {
  Image picture{4, 2, {}};
  for (int i = 0; i < 8; ++i) picture.rgb.insert(picture.rgb.end(), 3, std::uint8_t(i));
  const Image part = cut_out(picture, {500, 0, 500, 500});
  CHECK(part.width == 2);
  CHECK(part.height == 1);
  CHECK(part.rgb == std::vector<std::uint8_t>{2, 2, 2, 3, 3, 3});
  const Image least = cut_out(picture, {999, 999, 1, 1});
  CHECK(least.rgb == std::vector<std::uint8_t>{7, 7, 7});
  CHECK(cut_out(picture, {}).rgb == picture.rgb);
  CHECK(within({-5, 2000, 0, 5000}) == Region{0, 999, 1, 1});
}

TEST_CASE("a mirror turns left and right around", "[tools][live]") {
  const Image picture{2, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  CHECK(mirrored(picture).rgb == std::vector<std::uint8_t>{4, 5, 6, 1, 2, 3, 10, 11, 12, 7, 8, 9});
  CHECK(mirrored(mirrored(picture)).rgb == picture.rgb);
}

TEST_CASE("likeness is that of hidden units", "[tools][live]") {
  const std::vector<float> one{1, 0}, other{0, 2}, against{-3, 0}, none{0, 0};
  CHECK(std::abs(likeness(one, one) - 1) < 1e-6);
  CHECK(std::abs(likeness(one, other) - 1 / std::acos(-1.0)) < 1e-6);  // at a right angle
  CHECK(std::abs(likeness(one, against)) < 1e-6);
  CHECK(likeness(one, none) == 0);
}

TEST_CASE("a burst remembers its last samples, of one label", "[tools][live]") {
  Burst burst;
  const std::vector<float> one{1, 0}, other{0, 1};
  CHECK_FALSE(burst.is_near_duplicate("a", one));
  burst.learned("a", one, true);
  CHECK(burst.is_near_duplicate("a", one));
  CHECK_FALSE(burst.is_near_duplicate("b", one));
  CHECK_FALSE(burst.is_near_duplicate("a", other));
  burst.learned("a", other, true);
  CHECK(burst.is_near_duplicate("a", one));
  burst.learned("a", other, false);  // a tap begins anew
  CHECK_FALSE(burst.is_near_duplicate("a", one));
  burst.end();
  CHECK_FALSE(burst.is_near_duplicate("a", other));
}
