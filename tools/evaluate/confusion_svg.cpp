#include "tools/evaluate/confusion_svg.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tools/console/terminal.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

constexpr double kCell = 24, kLeft = 190, kMatrixTop = 190;
constexpr int kNameColumns = 22;
constexpr const char* kRight =
    "#0072b2";  // as the colours of the other plots: told apart by everybody
constexpr const char* kWrong = "#d55e00";

std::string name_at(double x, double y, const char* more, const std::string& name) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, more,
                     xml_escape(shorten(name, kNameColumns)));
}

std::string cell_at(std::size_t row, std::size_t column, int count, int shown) {
  const double x = kLeft + kCell * double(column), y = kMatrixTop + kCell * double(row);
  const double share = shown > 0 ? double(count) / shown : 0;
  std::string svg = fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
      "fill-opacity=\"{:.2f}\"/>\n",
      x + 0.5, y + 0.5, kCell - 1, kCell - 1, row == column ? kRight : kWrong,
      count == 0 ? 0.05 : 0.2 + 0.7 * share);
  if (count == 0) return svg;
  return svg + fmt::format(
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" fill=\"{}\">{}</text>\n",
                   x + kCell / 2, y + kCell / 2 + 4, share > 0.5 ? "#fff" : "#222", count);
}

}  // namespace

std::string confusion_svg(const Confusion& confusion, const std::string& title) {
  const std::size_t classes = confusion.names.size();
  const double width = kLeft + kCell * double(classes) + 20,
               height = kMatrixTop + kCell * double(classes) + 40;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"16\" y=\"26\" font-size=\"16\">{2}</text>\n"
      "<text x=\"16\" y=\"46\" fill=\"#555\">shown (down), answered (across)</text>\n",
      width, height, xml_escape(title));
  for (std::size_t row = 0; row < classes; ++row) {
    const std::vector<int>& counts = confusion.counts[row];
    const int shown = std::accumulate(counts.begin(), counts.end(), 0);
    const double middle = kCell * (double(row) + 0.5) + 4;
    svg += name_at(kLeft - 8, kMatrixTop + middle, "text-anchor=\"end\"", confusion.names[row]);
    svg += name_at(0, 0,
                   fmt::format("transform=\"translate({:.1f} {:.1f}) rotate(-60)\"", kLeft + middle,
                               kMatrixTop - 8)
                       .c_str(),
                   confusion.names[row]);
    for (std::size_t column = 0; column < classes; ++column) {
      svg += cell_at(row, column, counts[column], shown);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace engram
