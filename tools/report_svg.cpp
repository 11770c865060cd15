#include "tools/report_svg.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "tools/console/terminal.h"

namespace engram {
namespace {

constexpr double kWidth = 800, kHeight = 430;         // of the lines with their margins
constexpr double kLinesLeft = 64, kLinesRight = 590;  // of the axes; names stand to the right
constexpr double kTop = 84, kBottom = 370;
constexpr double kMatrix = 300;  // side of the table of R
// Okabe and Ito's colours: told apart by colour-blind readers too.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                    "#56b4e9", "#000000", "#999933", "#882255", "#44aa99"};

std::string text_at(double x, double y, const char* anchor, const char* style,
                    const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, style, xml_escape(text));
}

struct Axes {
  double floor;
  std::size_t steps;
  double x(std::size_t step) const {
    if (steps < 2) return (kLinesLeft + kLinesRight) / 2;
    return kLinesLeft + 14 +
           (kLinesRight - kLinesLeft - 28) * static_cast<double>(step) / double(steps - 1);
  }
  double y(double value) const {
    return kBottom - (kBottom - kTop) * (value - floor) / (100 - floor);
  }
};

std::string grid(const AccuracyPlot& plot, const Axes& axes) {
  std::string svg;
  const double step = axes.floor >= 80 ? 5 : axes.floor >= 50 ? 10 : 20;
  for (double value = axes.floor; value <= 100.01; value += step) {
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>\n",
                       kLinesLeft, kLinesRight, axes.y(value), axes.y(value));
    svg +=
        text_at(kLinesLeft - 8, axes.y(value) + 4, "end", "tick", fmt::format("{:.0f} %", value));
  }
  const std::size_t every = std::max<std::size_t>(1, (axes.steps + 19) / 20);
  for (std::size_t i = 0; i < plot.x_ticks.size(); i += every) {
    svg += text_at(axes.x(i), kBottom + 18, "middle", "tick", plot.x_ticks[i]);
  }
  return svg + text_at((kLinesLeft + kLinesRight) / 2, kBottom + 42, "middle", "tick", plot.x_axis);
}

std::string line(const PlotSeries& series, const Axes& axes, const char* colour) {
  std::string points, dots;
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    if (!std::isfinite(series.values[i])) continue;
    const double x = axes.x(i), y = axes.y(series.values[i]);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    if (axes.steps > 30 && series.values.size() > 1 && i + 1 < series.values.size()) continue;
    dots +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"/>\n", x, y, colour);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     points, colour) +
         dots;
}

// Names at the ends of their lines, best on top, moved apart where they would overlap.
std::string names(const AccuracyPlot& plot, const Axes& axes) {
  std::vector<std::size_t> order(plot.series.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = [&](std::size_t i) {
    const auto& values = plot.series[i].values;
    return values.empty() || !std::isfinite(values.back()) ? axes.floor : values.back();
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return last(a) > last(b); });
  const double lowest = kBottom - 18 * (double(order.size()) - 1);  // for the first of them
  std::string svg;
  double y = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t i = order[rank];
    y = std::max(std::min(axes.y(last(i)), lowest + 18 * double(rank)), rank ? y + 18 : 0);
    svg += fmt::format("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", kLinesRight + 14,
                       y, kColours[i % std::size(kColours)]);
    svg += text_at(kLinesRight + 24, y + 4, "start", "name",
                   fmt::format("{}  {:.1f} %", shorten(plot.series[i].name, 24), last(i)));
  }
  return svg;
}

std::string matrix_panel(const AccuracyPlot& plot) {
  const auto& r = plot.matrix;
  std::vector<PlotSeries> rows;
  std::size_t columns = r.size();
  for (const auto& row : r) {
    rows.push_back({"", row});
    columns = std::max(columns, row.size());
  }
  const double floor = axis_floor(rows);
  const double left = kWidth + 44, cell = kMatrix / double(columns);
  const double bottom = kTop + cell * double(r.size());
  const std::size_t every = columns <= 12 ? 1 : (columns + 9) / 10;  // that is named
  std::string svg = text_at(left, kTop - 14, "start", "name", plot.matrix_title);
  for (std::size_t i = 0; i < columns; i += every) {
    const std::string name = i < plot.matrix_columns.size() ? shorten(plot.matrix_columns[i], 10)
                                                            : fmt::to_string(i + 1);
    svg += text_at(left + cell * (double(i) + 0.5), bottom + 16, "middle", "tick", name);
  }
  for (std::size_t t = 0; t < r.size(); ++t) {
    const double y = kTop + cell * double(t);
    if (t % every == 0) {
      svg += text_at(left - 8, y + cell / 2 + 4, "end", "tick", fmt::to_string(t + 1));
    }
    for (std::size_t i = 0; i < r[t].size(); ++i) {
      const double value = r[t][i], x = left + cell * double(i);
      if (!std::isfinite(value)) continue;
      const double shade = std::clamp((value - floor) / (100 - floor), 0.0, 1.0);
      const double gap = columns > 30 ? 0 : 0.5;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#0072b2\" "
          "fill-opacity=\"{:.2f}\"/>\n",
          x + gap, y + gap, cell - 2 * gap, cell - 2 * gap, 0.08 + 0.82 * shade);
      if (columns > 12) continue;  // no room for figures
      svg += text_at(x + cell / 2, y + cell / 2 + 4, "middle", shade > 0.5 ? "light" : "dark",
                     fmt::format("{:.0f}", value));
    }
  }
  return svg + text_at(left + kMatrix / 2, bottom + 34, "middle", "tick",
                       plot.matrix_columns.empty() ? "tested on task (across), after task (down), %"
                                                   : "tested on (across), after task (down), %");
}

}  // namespace

std::string xml_escape(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

double axis_floor(const std::vector<PlotSeries>& series) {
  double least = 100;
  for (const PlotSeries& one : series) {
    for (const double value : one.values) {
      if (std::isfinite(value)) least = std::min(least, value);
    }
  }
  const double floor = least >= 80 ? 10 * std::floor(least / 10) : 20 * std::floor(least / 20);
  return std::clamp(floor, 0.0, 90.0);
}

std::string accuracy_svg(const AccuracyPlot& plot) {
  const Axes axes{axis_floor(plot.series), plot.x_ticks.size()};
  const double width = plot.matrix.empty() ? kWidth : kWidth + kMatrix + 70;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>text{{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;fill:#222}}"
      ".title{{font-size:18px;font-weight:600}}.tick{{font-size:12px;fill:#555}}"
      ".name{{font-size:13px}}.dark{{font-size:11px}}.light{{font-size:11px;fill:#fff}}"
      ".grid{{stroke:#ddd;stroke-width:1}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, kHeight, xml_escape(plot.title));
  svg += text_at(24, 32, "start", "title", plot.title);
  svg += text_at(24, 54, "start", "tick", plot.subtitle);
  svg += grid(plot, axes);
  for (std::size_t i = plot.series.size(); i-- > 0;) {  // the first one on top
    svg += line(plot.series[i], axes, kColours[i % std::size(kColours)]);
  }
  svg += names(plot, axes);
  if (!plot.matrix.empty()) svg += matrix_panel(plot);
  return svg + "</svg>\n";
}

}  // namespace engram
