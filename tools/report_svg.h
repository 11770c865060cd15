// Plots of accuracy as SVG text: no library, no script, opens in any browser.
#pragma once

#include <string>
#include <vector>

namespace engram {

struct PlotSeries {
  std::string name;
  std::vector<double> values;  // in %, one per step; NaN: no point
};

struct AccuracyPlot {
  std::string title{};
  std::string subtitle{};
  std::string x_axis{};                // what a step is: "classes seen"
  std::vector<std::string> x_ticks{};  // one per step
  std::vector<PlotSeries> series{};
  // R, drawn as a table of shades beside the lines when not empty: matrix[t][i] in %.
  std::vector<std::vector<double>> matrix{};
  std::vector<std::string> matrix_columns{};  // names; empty: columns are tasks 1, 2, ...
  std::string matrix_title{};
};

std::string accuracy_svg(const AccuracyPlot& plot);
// Where the axis of such a plot begins: a round number below the least value, at most 90.
double axis_floor(const std::vector<PlotSeries>& series);
std::string xml_escape(const std::string& text);

}  // namespace engram
