#include "tools/report_svg.h"

#include <cmath>

#include "tests/support/catch.h"

namespace engram {
namespace {

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("a plot has a line per series, a dot per value, a cell per entry of R", "[tools][svg]") {
  const double none = std::nan("");
  const std::string svg =
      accuracy_svg({.title = "A",
                    .subtitle = "",
                    .x_axis = "task",
                    .x_ticks = {"1", "2", "3"},
                    .series = {{"exact", {99, 97, 95}}, {"ncm", {90, none, 85}}},
                    .matrix = {{99}, {98, 96}, {97, none, 95}},
                    .matrix_title = "R"});
  REQUIRE(count(svg, "<polyline") == 2);
  REQUIRE(count(svg, "<circle") == 5 + 2);  // dots, and one beside each name
  REQUIRE(count(svg, "<rect") == 1 + 5);    // ground, and the entries that are numbers
  REQUIRE(count(svg, "nan") == 0);
  REQUIRE(count(svg, "<text") == count(svg, "</text>"));
}

TEST_CASE("names cannot break out of the picture", "[tools][svg]") {
  const std::string svg =
      accuracy_svg({.title = "<script>\"&", .x_ticks = {"1"}, .series = {{"</svg>", {50}}}});
  REQUIRE(svg.find("<script>") == std::string::npos);
  REQUIRE(count(svg, "</svg>") == 1);
  REQUIRE(xml_escape("a<b>\"&\x1b") == "a&lt;b&gt;&quot;&amp;?");
}

TEST_CASE("an empty plot is still a picture", "[tools][svg]") {
  const std::string svg = accuracy_svg({});
  REQUIRE(svg.ends_with("</svg>\n"));
}

TEST_CASE("the axis begins at a round number below all values", "[tools][svg]") {
  REQUIRE(axis_floor({{"a", {99.2, 93}}}) == 90);
  REQUIRE(axis_floor({{"a", {100}}}) == 90);
  REQUIRE(axis_floor({{"a", {84}}}) == 80);
  REQUIRE(axis_floor({{"a", {71}}, {"b", {35}}}) == 20);
  REQUIRE(axis_floor({}) == 90);
}

}  // namespace engram
