#include "tools/pictures/picture_loader.h"

#include "tests/support/catch.h"
#include "tests/support/no_new_threads.h"
#include "tests/support/temp_directory.h"
#include "tools/console/units.h"
#include "tools/pictures/contact_sheet.h"

namespace engram {

TEST_CASE("pictures come in order, broken ones too, on any number of threads", "[tools][loader]") {
  const test::TempDirectory folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 40; ++i) {
    paths.push_back(folder / (std::to_string(i) + ".png"));
    if (i % 7 == 3) continue;  // missing
    const Image image{2 + i, 1, std::vector<std::uint8_t>(3 * (2 + i), std::uint8_t(i))};
    REQUIRE(write_png(paths.back(), image).ok());
  }
  for (const int threads : {1, 2, 4}) {
    PictureLoader loader(paths, threads);
    for (int i = 0; i < 40; ++i) {
      const auto picture = loader.next();
      REQUIRE(picture.has_value());
      REQUIRE(picture->ok() == (i % 7 != 3));
      if (picture->ok()) REQUIRE(picture->value().width == 2 + i);
    }
    REQUIRE_FALSE(loader.next().has_value());
  }
}

TEST_CASE("without threads a loader reads by itself", "[tools][loader]") {
  const test::NoNewThreads refused;
  PictureLoader loader(std::vector<std::string>(3, "missing.png"), 4);
  for (int i = 0; i < 3; ++i) REQUIRE(loader.next()->status().code() == Code::not_found);
  REQUIRE_FALSE(loader.next().has_value());
}

TEST_CASE("a loader may be left before its end", "[tools][loader]") {
  PictureLoader loader(std::vector<std::string>(1000, "missing.png"), 4);
  REQUIRE_FALSE(loader.next()->ok());
}

TEST_CASE("shrinking takes means", "[tools][sheet]") {
  const Image image{2, 2, {0, 0, 0, 100, 100, 100, 200, 200, 200, 100, 0, 255}};
  REQUIRE(shrink(image, 1, 1).rgb == std::vector<std::uint8_t>{100, 75, 139});
  REQUIRE(shrink(image, 2, 2).rgb == image.rgb);
}

TEST_CASE("a sheet frames its cells", "[tools][sheet]") {
  const Image black{3, 2, std::vector<std::uint8_t>(18, 0)};
  const Image sheet = contact_sheet({{black, kGreen}, {black, kRed}, {black, kWhite}}, 2);
  const auto pixel = [&](int x, int y) {
    const auto* p = sheet.rgb.data() + (std::size_t(y) * sheet.width + x) * 3;
    return std::vector<int>{p[0], p[1], p[2]};
  };
  REQUIRE(sheet.width == 2 * (3 + 8 + 6) + 6);
  REQUIRE(sheet.height == 2 * (2 + 8 + 6) + 6);
  REQUIRE(pixel(0, 0) == std::vector<int>{255, 255, 255});
  REQUIRE(pixel(6, 6) == std::vector<int>{kGreen.red, kGreen.green, kGreen.blue});
  REQUIRE(pixel(10, 10) == std::vector<int>{0, 0, 0});
  REQUIRE(pixel(23, 6) == std::vector<int>{kRed.red, kRed.green, kRed.blue});
}

TEST_CASE("quantities are told as people tell them", "[tools][units]") {
  REQUIRE(bytes_text(512) == "512 B");
  REQUIRE(bytes_text(1500) == "1.5 kB");
  REQUIRE(bytes_text(400'000'000) == "400 MB");
  REQUIRE(bytes_text(9'990'000) == "10 MB");
  REQUIRE(count_text(17458) == "17 458");
  REQUIRE(count_text(-1000000) == "-1 000 000");
  REQUIRE(plural(1, "class", "classes") == "1 class");
  REQUIRE(plural(2000, "class", "classes") == "2 000 classes");
  REQUIRE(peak_memory_bytes() > 1'000'000);
}

}  // namespace engram
