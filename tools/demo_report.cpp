#include "tools/demo_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/file.h"
#include "tools/console/terminal.h"
#include "tools/console/text_plot.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

constexpr int kSheetColumns = 8;  // four pairs

std::vector<double> accuracies(const DemoResult& result) {
  std::vector<double> values;
  for (const DemoRound& round : result.rounds) values.push_back(round.accuracy());
  return values;
}

double median_seconds(const DemoResult& result) {
  std::vector<double> seconds;
  for (const DemoRound& round : result.rounds) seconds.push_back(round.learn_seconds);
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

DemoTable::DemoTable(const Console& console, const DemoShow& show)
    : console_(console),
      show_(show),
      table_({{"#", Align::right, 3},
              {"object", Align::left, 16},
              {"frames", Align::right},
              {"learned in", Align::right},
              {"all objects so far", Align::right, 18},
              {"first object", Align::right}}) {
  console_.answer(table_.heading_line(console_.colour()));
}

void DemoTable::begin(const std::string& object) {
  progress_ = std::make_unique<Progress>(console_.shows_progress(), "  " + printable(object));
}

void DemoTable::add(const DemoRound& round) {
  progress_.reset();
  table_.add({fmt::to_string(table_.rows() + 1), shorten(printable(round.object), 24),
              fmt::to_string(show_.frames), fmt::format("{:.0f} ms", 1000 * round.learn_seconds),
              fmt::format("{}/{}  {:5.1f} %", round.right, round.asked, round.accuracy()),
              fmt::format("{}/{}", round.first_right, show_.views)});
  console_.answer(table_.row_line(table_.rows() - 1));
}

Result<DemoFiles> write_demo_files(const DemoResult& result, const std::string& directory) {
  AccuracyPlot plot;
  plot.title = "Objects learned one at a time";
  plot.subtitle = "accuracy on new views after each object";
  plot.x_axis = "objects learned";
  PlotSeries all{"all so far", accuracies(result)}, first{"first object", {}};
  const int views = result.rounds.front().asked;
  for (std::size_t i = 0; i < result.rounds.size(); ++i) {
    plot.x_ticks.push_back(fmt::to_string(i + 1));
    first.values.push_back(100.0 * result.rounds[i].first_right / views);
  }
  plot.series = {std::move(all), std::move(first)};
  const DemoFiles files{directory + "/demo.svg", directory + "/demo.png"};
  const std::string svg = accuracy_svg(plot);
  ENGRAM_TRY(make_directories(directory));
  ENGRAM_TRY(replace_file(files.plot, std::as_bytes(std::span(svg))));
  const int columns = std::min<int>(kSheetColumns, std::ssize(result.cells));
  ENGRAM_TRY(write_png(files.sheet, contact_sheet(result.cells, columns)));
  return files;
}

std::string demo_summary(const DemoResult& result, const DemoShow& show) {
  const DemoRound& last = result.rounds.back();
  const std::vector<double> values = accuracies(result);
  const double floor = axis_floor({{"", values}});
  const int rows = 1 + static_cast<int>((100 - floor) / (floor >= 80 ? 5 : floor >= 60 ? 10 : 20));
  const bool all_known = last.first_right == show.views;
  return fmt::format(
      "\naccuracy on new views of all objects so far\n{}\n"
      "{} objects learned one at a time from {} frames each, in {} apiece (median), every one on "
      "disk before the next.\n{} of {} new views recognised ({:.1f} %); the first object ({}) is "
      "{}: "
      "{}/{} new views.\n",
      text_plot(values, floor, rows), result.rounds.size(), show.frames,
      duration_text(median_seconds(result)), last.right, last.asked, last.accuracy(),
      printable(result.rounds.front().object),
      all_known                           ? "still known"
      : 2 * last.first_right > show.views ? "still mostly known"
                                          : "no longer known",
      last.first_right, show.views);
}

nlohmann::ordered_json demo_json(const DemoResult& result, const DemoShow& show) {
  nlohmann::ordered_json rounds = nlohmann::ordered_json::array();
  for (const DemoRound& round : result.rounds) {
    rounds.push_back({{"object", round.object},
                      {"learn_seconds", round.learn_seconds},
                      {"right", round.right},
                      {"asked", round.asked},
                      {"accuracy", round.accuracy()},
                      {"first_object_right", round.first_right}});
  }
  const DemoRound& last = result.rounds.back();
  return {{"objects", result.rounds.size()},
          {"frames", show.frames},
          {"views", show.views},
          {"accuracy", last.accuracy()},
          {"first_object_right", last.first_right},
          {"first_object_known", last.first_right == show.views},
          {"median_learn_seconds", median_seconds(result)},
          {"rounds", rounds}};
}

}  // namespace engram
