#include "tools/evaluate/open_set_report.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/console/table.h"
#include "tools/console/units.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

nlohmann::ordered_json bins_json(const std::vector<ReliabilityBin>& bins) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ReliabilityBin& bin : bins) {
    list.push_back(
        {{"confidence", bin.confidence}, {"accuracy", bin.accuracy}, {"count", bin.count}});
  }
  return list;
}

std::string percent(double value) {
  return fmt::format("{:.1f} %", 100 * value);
}

}  // namespace

std::string open_set_text(const std::vector<OpenSetResult>& results, double false_alarms) {
  const OpenSetResult& first = results.front();
  std::string text = fmt::format(
      "{} taught from {} samples, {} held out; tested on {} samples of the one and {} of the "
      "other kind\n",
      plural(first.taught, "class", "classes"), count_text(first.learned), first.held_out,
      count_text(first.known), count_text(first.unknown));
  Table table({{"run"},
               {"AUROC", Align::right},
               {"best score's", Align::right},
               {"false alarms", Align::right},
               {"found unknown", Align::right},
               {"by best score", Align::right},
               {"top-1 of known", Align::right},
               {"ECE", Align::right},
               {"ECE of known", Align::right},
               {"leverage"}});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const OpenSetResult& one = results[i];
    table.add({fmt::format("{}", i + 1), fmt::format("{:.3f}", one.area),
               fmt::format("{:.3f}", one.area_of_best), percent(one.false_alarms),
               percent(one.detected), percent(one.detected_of_best), percent(one.accuracy),
               percent(one.calibration_error), percent(one.calibration_error_known),
               one.uses_leverage ? "yes" : "no"});
  }
  return text + table.text(false) +
         fmt::format(
             "asked for: {} false alarms. By best score: at as many false alarms on these "
             "samples.\n",
             percent(false_alarms));
}

nlohmann::ordered_json open_set_json(const std::vector<OpenSetResult>& results,
                                     double false_alarms) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const OpenSetResult& one : results) {
    runs.push_back({{"taught_classes", one.taught},
                    {"held_out_classes", one.held_out},
                    {"learned", one.learned},
                    {"known", one.known},
                    {"unknown", one.unknown},
                    {"auroc", one.area},
                    {"auroc_best_score", one.area_of_best},
                    {"false_alarms", one.false_alarms},
                    {"detected", one.detected},
                    {"detected_best_score", one.detected_of_best},
                    {"accuracy", one.accuracy},
                    {"calibration_error", one.calibration_error},
                    {"calibration_error_known", one.calibration_error_known},
                    {"uses_leverage", one.uses_leverage},
                    {"lambda", one.lambda},
                    {"solve_seconds", one.solve_seconds},
                    {"reliability", bins_json(one.reliability)},
                    {"reliability_known", bins_json(one.reliability_known)}});
  }
  return {{"open_set", runs}, {"false_alarms_asked", false_alarms}};
}

std::string reliability_svg(const std::vector<ReliabilityBin>& bins, const std::string& subtitle) {
  AccuracyPlot plot;
  plot.title = "Reliability: how often answers of a probability are right";
  plot.subtitle = subtitle;
  plot.x_axis = "mean probability of the answers in a bin (how many)";
  PlotSeries measured{"measured", {}}, ideal{"ideal", {}};
  for (const ReliabilityBin& bin : bins) {
    const bool empty = bin.count == 0;
    plot.x_ticks.push_back(empty ? ""
                                 : fmt::format("{:.0f} % ({})", 100 * bin.confidence, bin.count));
    measured.values.push_back(empty ? std::nan("") : 100 * bin.accuracy);
    ideal.values.push_back(empty ? std::nan("") : 100 * bin.confidence);
  }
  plot.series = {measured, ideal};
  return accuracy_svg(plot);
}

}  // namespace engram
