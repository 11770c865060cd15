#include "tools/text_plot.h"

#include <cmath>

#include <fmt/format.h>

#include "platform/status.h"

namespace engram {

std::string text_plot(const std::vector<double>& values, double floor, int rows) {
  ENGRAM_CHECK(rows >= 2 && floor < 100);
  std::string text;
  for (int row = 0; row < rows; ++row) {
    const double level = 100 - (100 - floor) * row / (rows - 1);
    text += fmt::format("  {:3.0f} % ┤", level);
    for (const double value : values) {
      const bool here =
          std::isfinite(value) && std::lround((100 - value) / (100 - floor) * (rows - 1)) == row;
      text += here ? " ●" : "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  text += "        └";
  for (std::size_t i = 0; i < values.size(); ++i) text += "──";
  return text + "\n";
}

}  // namespace engram
