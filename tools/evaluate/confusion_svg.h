// Who was taken for whom, as a table of shades: SVG text without a script, opens in any browser.
#pragma once

#include <string>
#include <vector>

namespace engram {

struct Confusion {
  std::vector<std::string> names;        // what was shown; answers are of the same names
  std::vector<std::vector<int>> counts;  // counts[shown][answer], square
};

std::string confusion_svg(const Confusion& confusion, const std::string& title);

}  // namespace engram
