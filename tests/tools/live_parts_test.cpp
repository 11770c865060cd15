#include <cmath>

#include "platform/threads.h"
#include "tests/support/catch.h"
#include "tools/live/burst.h"
#include "tools/live/view.h"

using namespace engram;

TEST_CASE("a region is cut out, within the picture", "[tools][live]") {
  Image picture{4, 2, {}};
  for (int i = 0; i < 8; ++i) picture.rgb.insert(picture.rgb.end(), 3, std::uint8_t(i));
  const PictureView whole{picture.view()};
  const PictureView part = cut_out(whole, {500, 0, 500, 500});
  CHECK(part.width() == 2);
  CHECK(part.height() == 1);
  CHECK(part.pixels(0, 0) == 2);
  CHECK(part.pixels(0, 5) == 3);
  const PictureView least = cut_out(whole, {999, 999, 1, 1});
  CHECK(least.width() * least.height() == 1);
  CHECK(least.pixels(0, 2) == 7);
  const PictureView all = cut_out(whole, {});
  CHECK((all.pixels.data == picture.rgb.data() && all.width() == 4 && all.height() == 2));
  CHECK(within({-5, 2000, 0, 5000}) == Region{0, 999, 1, 1});
}

TEST_CASE("a region of NV12 begins where a pair of pixels begins", "[tools][live]") {
  std::vector<std::uint8_t> luma(9 * 7), chroma(10 * 4);
  for (int i = 0; i < 63; ++i) luma[std::size_t(i)] = std::uint8_t(i);
  for (int i = 0; i < 40; ++i) chroma[std::size_t(i)] = std::uint8_t(100 + i);
  const PictureView picture{{luma.data(), 7, 9, 9}, {chroma.data(), 4, 10, 10}, kBt601};
  for (int left = 0; left < 1000; left += 37) {
    for (int top = 0; top < 1000; top += 41) {
      for (const int side : {1, 150, 333, 1000}) {
        const Region region = within({left, top, side, side});
        const PictureView part = cut_out(picture, region);
        CAPTURE(left, top, side);
        REQUIRE(part.is_valid());
        const auto first = part.pixels.data - luma.data();  // row by row
        const int x = int(first % 9), y = int(first / 9);
        REQUIRE((x % 2 == 0 && y % 2 == 0));
        REQUIRE((x <= region.left * 9 / 1000 && region.left * 9 / 1000 <= x + 1));
        REQUIRE((x + part.width() <= 9 && y + part.height() <= 7));
        REQUIRE((x + part.width() >= (region.left + region.width) * 9 / 1000));
        REQUIRE(part.chroma.data == chroma.data() + y / 2 * 10 + x);
      }
    }
  }
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
