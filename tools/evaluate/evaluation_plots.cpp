// The pictures of an evaluation.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "tools/evaluate/evaluation_report.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

// What stands below the axis: classes, samples or domains that came so far.
std::string step_name(const Evaluation& evaluation, const ProtocolResult& result, std::size_t t) {
  if (evaluation.protocol == Protocol::dil && t < result.groups.size()) return result.groups[t];
  if (evaluation.protocol != Protocol::task_free) {
    return fmt::to_string(result.tasks[t].classes_seen);
  }
  std::int64_t samples = 0;
  for (std::size_t i = 0; i <= t; ++i) samples += result.tasks[i].train_samples;
  return fmt::to_string(samples);
}

const char* axis_name(Protocol protocol) {
  switch (protocol) {
    case Protocol::dil:
      return "domain learned last";
    case Protocol::task_free:
      return "samples seen";
    default:
      return "classes seen";
  }
}

}  // namespace

std::string accuracy_plot(const Evaluation& evaluation) {
  AccuracyPlot plot;
  plot.title = "Average accuracy while learning one task after another";
  if (evaluation.protocol == Protocol::dil) {
    plot.title = "Accuracy on all domains while learning one after another";
  } else if (evaluation.protocol == Protocol::task_free) {
    plot.title = "Accuracy on the classes seen, learning from a stream without tasks";
  }
  plot.subtitle = evaluation_subject(evaluation);
  plot.x_axis = axis_name(evaluation.protocol);
  // The row with the most tasks tells the steps: a joint head has but one, at the end.
  const auto longest = std::max_element(
      evaluation.rows.begin(), evaluation.rows.end(),
      [](const auto& a, const auto& b) { return a.first().tasks.size() < b.first().tasks.size(); });
  const std::size_t steps = longest->first().tasks.size();
  for (const EvaluationRow& row : evaluation.rows) {
    PlotSeries series{row.name, {}};
    const std::size_t own = row.first().tasks.size();
    series.values.assign(steps - own, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t t = 0; t < own; ++t) {
      series.values.push_back(
          row.over_runs([t](const ProtocolResult& r) { return r.tasks[t].average_accuracy; }).mean);
    }
    plot.series.push_back(std::move(series));
  }
  for (std::size_t t = 0; t < steps; ++t) {
    plot.x_ticks.push_back(step_name(evaluation, longest->first(), t));
  }
  const ProtocolResult& first = evaluation.rows.front().first();
  if (first.tasks.size() > 1) {
    for (const TaskResult& task : first.tasks) plot.matrix.push_back(task.accuracy);
    plot.matrix_columns = first.groups;
    plot.matrix_title = "Accuracy matrix R, " + evaluation.rows.front().name;
  }
  return accuracy_svg(plot);
}

std::string hidden_plot(const Evaluation& evaluation) {
  std::set<int> sizes;
  std::vector<std::string> names;
  for (const EvaluationRow& row : evaluation.rows) {
    if (!projects(row.head)) continue;
    sizes.insert(row.config.hidden);
    if (std::find(names.begin(), names.end(), row.series) == names.end()) {
      names.push_back(row.series);
    }
  }
  if (sizes.size() < 2) return "";
  AccuracyPlot plot;
  plot.title = "Accuracy after the last task against the number of hidden units";
  plot.subtitle = evaluation_subject(evaluation);
  plot.x_axis = "M, hidden units";
  for (const int size : sizes) plot.x_ticks.push_back(fmt::to_string(size));
  for (const std::string& name : names) {
    PlotSeries series{name, {}};
    for (const int size : sizes) {
      const auto row = std::find_if(
          evaluation.rows.begin(), evaluation.rows.end(), [&](const EvaluationRow& one) {
            return projects(one.head) && one.series == name && one.config.hidden == size;
          });
      series.values.push_back(row == evaluation.rows.end()
                                  ? std::numeric_limits<double>::quiet_NaN()
                                  : row->final_accuracy().mean);
    }
    plot.series.push_back(std::move(series));
  }
  for (const EvaluationRow& row : evaluation.rows) {  // what has no M is a level
    if (projects(row.head)) continue;
    plot.series.push_back({row.name, std::vector<double>(sizes.size(), row.final_accuracy().mean)});
  }
  return accuracy_svg(plot);
}

}  // namespace engram
