#include "tools/evaluation_report.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/progress.h"
#include "tools/report_svg.h"
#include "tools/table.h"
#include "tools/terminal.h"
#include "tools/units.h"

namespace engram {
namespace {

std::string percent(double value) {
  return std::isfinite(value) ? fmt::format("{:.1f}", value) : "-";
}

nlohmann::ordered_json number(double value) {  // JSON has no NaN
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string matrix_text(const HeadResult& head) {
  std::vector<Column> columns{{"after task", Align::right}};
  for (std::size_t i = 1; i <= head.result.tasks.size(); ++i) {
    columns.push_back({fmt::format("{}", i), Align::right, 5});
  }
  for (const char* heading : {"A_t", "F_t", "top-1"}) columns.push_back({heading, Align::right, 5});
  columns.push_back({"lambda", Align::right});
  Table table(columns);
  for (std::size_t t = 0; t < head.result.tasks.size(); ++t) {
    const TaskResult& task = head.result.tasks[t];
    std::vector<std::string> row{fmt::format("{}", t + 1)};
    for (const double value : task.accuracy) row.push_back(percent(value));
    row.resize(1 + head.result.tasks.size());
    row.insert(row.end(),
               {percent(task.average_accuracy), percent(task.forgetting), percent(task.top1),
                task.lambda > 0 ? fmt::format("{:g}", task.lambda) : "-"});
    table.add(std::move(row));
  }
  return table.text(false);
}

struct Times {
  double learn = 0, solve = 0, test = 0;
};
Times times_of(const ProtocolResult& result) {
  Times times;
  for (const TaskResult& task : result.tasks) {
    times.learn += task.learn_seconds;
    times.solve += task.solve_seconds;
    times.test += task.test_seconds;
  }
  return times;
}

}  // namespace

std::string evaluation_text(const Evaluation& evaluation) {
  std::string text = fmt::format(
      "{}, L {}, M {}; {} training and {} test pictures of {}; class order of seed {}\n",
      printable(evaluation.model), evaluation.features, evaluation.hidden,
      count_text(evaluation.train_pictures), count_text(evaluation.test_pictures),
      plural(std::ssize(evaluation.classes), "class", "classes"), evaluation.class_seed);
  for (const HeadResult& head : evaluation.heads) {
    text += fmt::format("\n{}: accuracy in % on the classes of each task\n{}", head.name,
                        matrix_text(head));
    for (const TaskResult& task : head.result.tasks) {
      if (!task.note.empty()) text += task.note + "\n";
    }
  }
  Table summary({{"head"},
                 {"A_T", Align::right},
                 {"mean A_t", Align::right},
                 {"F_T", Align::right},
                 {"top-1", Align::right},
                 {"learn", Align::right},
                 {"solve", Align::right},
                 {"test", Align::right}});
  for (const HeadResult& head : evaluation.heads) {
    const TaskResult& last = head.result.tasks.back();
    const Times times = times_of(head.result);
    summary.add({head.name, percent(last.average_accuracy),
                 percent(head.result.mean_average_accuracy), percent(last.forgetting),
                 percent(last.top1), duration_text(times.learn), duration_text(times.solve),
                 duration_text(times.test)});
  }
  text += "\n" + summary.text(false);
  return text + fmt::format("\nfeatures {}, peak memory {}\n",
                            duration_text(evaluation.extract_seconds),
                            bytes_text(evaluation.peak_bytes));
}

nlohmann::ordered_json evaluation_json(const Evaluation& evaluation) {
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();
  for (const HeadResult& head : evaluation.heads) {
    nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
    for (const TaskResult& task : head.result.tasks) {
      nlohmann::ordered_json row = nlohmann::ordered_json::array();
      for (const double value : task.accuracy) row.push_back(number(value));
      tasks.push_back({{"classes_seen", task.classes_seen},
                       {"train_samples", task.train_samples},
                       {"test_samples", task.test_samples},
                       {"accuracy", row},
                       {"average_accuracy", number(task.average_accuracy)},
                       {"forgetting", number(task.forgetting)},
                       {"top1", number(task.top1)},
                       {"lambda", task.lambda},
                       {"note", task.note},
                       {"learn_seconds", task.learn_seconds},
                       {"solve_seconds", task.solve_seconds},
                       {"test_seconds", task.test_seconds}});
    }
    const TaskResult& last = head.result.tasks.back();
    heads.push_back({{"head", head.name},
                     {"average_accuracy", number(last.average_accuracy)},
                     {"mean_average_accuracy", number(head.result.mean_average_accuracy)},
                     {"forgetting", number(last.forgetting)},
                     {"top1", number(last.top1)},
                     {"seconds", head.result.seconds},
                     {"class_order", head.result.class_order},
                     {"task_sizes", head.result.task_sizes},
                     {"tasks", tasks}});
  }
  return {{"protocol", "cil"},
          {"model", evaluation.model},
          {"train", evaluation.train},
          {"test", evaluation.test},
          {"classes", evaluation.classes},
          {"train_pictures", evaluation.train_pictures},
          {"test_pictures", evaluation.test_pictures},
          {"skipped", evaluation.skipped},
          {"features", evaluation.features},
          {"hidden", evaluation.hidden},
          {"class_seed", evaluation.class_seed},
          {"extract_seconds", evaluation.extract_seconds},
          {"peak_memory_bytes", evaluation.peak_bytes},
          {"heads", heads}};
}

std::string evaluation_svg(const Evaluation& evaluation) {
  AccuracyPlot plot;
  plot.title = "Average accuracy while learning one task after another";
  plot.subtitle =
      fmt::format("{}, L {}, M {}, {} training pictures", evaluation.model, evaluation.features,
                  evaluation.hidden, count_text(evaluation.train_pictures));
  plot.x_axis = "classes seen";
  for (const HeadResult& head : evaluation.heads) {
    PlotSeries series{head.name, {}};
    for (const TaskResult& task : head.result.tasks) series.values.push_back(task.average_accuracy);
    plot.series.push_back(std::move(series));
  }
  for (const TaskResult& task : evaluation.heads.front().result.tasks) {
    plot.x_ticks.push_back(fmt::to_string(task.classes_seen));
    plot.matrix.push_back(task.accuracy);
  }
  plot.matrix_title = "Accuracy matrix R, " + evaluation.heads.front().name;
  return accuracy_svg(plot);
}

}  // namespace engram
