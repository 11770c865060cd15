#include "tools/console/text_plot.h"

#include <cmath>

#include <fmt/format.h>

#include "platform/status.h"

namespace engram {
namespace {

struct Scale {
  double low, high;
  bool percent;
};

std::string plot(const std::vector<double>& values, const Scale& scale, int rows) {
  ENGRAM_CHECK(rows >= 2 && scale.low < scale.high);
  const double range = scale.high - scale.low;
  std::string text;
  for (int row = 0; row < rows; ++row) {
    const double level = scale.high - range * row / (rows - 1);
    text += scale.percent ? fmt::format("  {:3.0f} % ┤", level) : fmt::format("{:7.2f} ┤", level);
    for (const double value : values) {
      const bool here =
          std::isfinite(value) && std::lround((scale.high - value) / range * (rows - 1)) == row;
      text += here ? " ●" : "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  text += "        └";
  for (std::size_t i = 0; i < values.size(); ++i) text += "──";
  return text + "\n";
}

}  // namespace

std::string text_plot(const std::vector<double>& values, double floor, int rows) {
  return plot(values, {floor, 100, true}, rows);
}

std::string text_plot(const std::vector<double>& values, double low, double high, int rows) {
  return plot(values, {low, high, false}, rows);
}

}  // namespace engram
