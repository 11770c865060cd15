#include "tools/evaluate/evaluation_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/adapt/adapt_report.h"
#include "tools/console/progress.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

constexpr std::size_t kMostColumns = 12;  // of R, in text
constexpr std::size_t kMostLines = 20;    // of one head; of more tasks only some are shown

std::string column_name(const ProtocolResult& result, std::size_t i) {
  return i < result.groups.size() ? shorten(result.groups[i], 10) : fmt::to_string(i + 1);
}

std::string matrix_text(const ProtocolResult& result) {
  const std::size_t shown = printed_columns(result);
  std::vector<Column> columns{{"after task", Align::right}};
  for (std::size_t i = 0; i < shown; ++i) {
    columns.push_back({column_name(result, i), Align::right, 5});
  }
  for (const char* heading : {"A_t", "F_t", "top-1"}) columns.push_back({heading, Align::right, 5});
  columns.push_back({"lambda", Align::right});
  Table table(columns);
  const std::size_t tasks = result.tasks.size(),
                    every = std::max<std::size_t>(1, (tasks + kMostLines - 1) / kMostLines);
  for (std::size_t t = 0; t < tasks; ++t) {
    if ((t + 1) % every != 0 && t + 1 != tasks) continue;
    const TaskResult& task = result.tasks[t];
    std::vector<std::string> row{fmt::to_string(t + 1)};
    for (std::size_t i = 0; i < std::min(shown, task.accuracy.size()); ++i) {
      row.push_back(percent_text(task.accuracy[i]));
    }
    row.resize(1 + shown);
    row.insert(row.end(), {percent_text(task.average_accuracy), percent_text(task.forgetting),
                           percent_text(task.top1),
                           task.lambda > 0 ? fmt::format("{:.3g}", task.lambda) : "-"});
    table.add(std::move(row));
  }
  return table.text(false);
}

std::string notes_text(const ProtocolResult& result) {
  std::string text;
  int notes = 0;
  for (std::size_t t = 0; t < result.tasks.size(); ++t) {
    if (result.tasks[t].note.empty()) continue;
    if (++notes <= 3) text += fmt::format("task {}: {}\n", t + 1, result.tasks[t].note);
  }
  if (notes > 3) text += fmt::format("and {} more such notes (report.json has them)\n", notes - 3);
  return text;
}

std::string summary_text(const Evaluation& evaluation) {
  const bool stream = evaluation.protocol == Protocol::task_free;
  std::vector<Column> columns{{"head"}};
  for (const char* heading : {"A_T", "mean A_t", "F_T", "top-1", "balanced"}) {
    columns.push_back({heading, Align::right});
  }
  if (stream) columns.push_back({"mean, all classes", Align::right});
  for (const char* heading : {"learn", "solve", "test"}) columns.push_back({heading, Align::right});
  Table table(columns);
  for (const EvaluationRow& row : evaluation.rows) {
    const auto last = [&](double TaskResult::*value) {
      return mean_text(
          row.over_runs([&](const ProtocolResult& r) { return r.tasks.back().*value; }));
    };
    const auto time = [&](double TaskResult::*value) {
      const MeanDeviation seconds = row.over_runs([&](const ProtocolResult& r) {
        double sum = 0;
        for (const TaskResult& task : r.tasks) sum += task.*value;
        return sum;
      });
      return duration_text(seconds.mean);
    };
    std::vector<std::string> cells{
        row.name,
        last(&TaskResult::average_accuracy),
        mean_text(row.over_runs([](const ProtocolResult& r) { return r.mean_average_accuracy; })),
        last(&TaskResult::forgetting),
        last(&TaskResult::top1),
        last(&TaskResult::balanced)};
    if (stream) {
      cells.push_back(mean_text(row.over_runs([](const ProtocolResult& r) {
        double sum = 0;
        for (const TaskResult& task : r.tasks) sum += task.all_classes;
        return sum / double(r.tasks.size());
      })));
    }
    cells.insert(cells.end(), {time(&TaskResult::learn_seconds), time(&TaskResult::solve_seconds),
                               time(&TaskResult::test_seconds)});
    table.add(std::move(cells));
  }
  return table.text(false);
}

}  // namespace

std::string percent_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.1f}", value) : "-";
}

std::string mean_text(const MeanDeviation& value) {
  if (!std::isfinite(value.mean) || !(value.deviation > 0)) return percent_text(value.mean);
  return fmt::format("{:.1f} ±{:.1f}", value.mean, value.deviation);
}

std::size_t printed_columns(const ProtocolResult& result) {
  const std::size_t columns = result.groups.empty() ? result.tasks.size() : result.groups.size();
  return columns <= kMostColumns ? columns : 0;
}

std::string evaluation_subject(const Evaluation& evaluation) {
  std::string text = fmt::format(
      "{}, L {}; {} training and {} test samples of {}; protocol {}", printable(evaluation.model),
      evaluation.features, count_text(evaluation.train_samples),
      count_text(evaluation.test_samples),
      plural(std::ssize(evaluation.classes), "class", "classes"), name(evaluation.protocol));
  if (evaluation.protocol == Protocol::dil) {
    text += fmt::format(", {}", plural(std::ssize(evaluation.domains), "domain", "domains"));
  }
  return text;
}

std::string phase1_text(const Phase1Run& run) {
  std::string text =
      fmt::format("phase 1 on the first task of seed {}: {}, kept epoch {}{}, trained in {}",
                  run.class_seed, run.adapted, run.kept_epoch,
                  run.stopped_early ? " (stopped early)" : "", duration_text(run.seconds));
  if (run.before.count == 0) return text;
  return text + fmt::format(
                    "; nearest class mean on {} of its pictures held out {:.1f} %, before {:.1f} "
                    "%{}",
                    run.before.count, run.after.percent(), run.before.percent(),
                    is_worth_adding(run.before, run.after)
                        ? ""
                        : ", so that `engram adapt` would keep it frozen");
}

std::string evaluation_text(const Evaluation& evaluation) {
  std::string text = evaluation_subject(evaluation) + "\n";
  if (evaluation.measured_scale) {
    text += fmt::format("exact: feature scale {:g} and gain {} measured on the training features\n",
                        evaluation.feature_scale, evaluation.hidden_mul);
  }
  for (const Phase1Run& run : evaluation.phase1) text += phase1_text(run) + "\n";
  for (const EvaluationRow& row : evaluation.rows) {
    const EvaluationRun& run = row.runs.front();
    text += fmt::format("\n{}: accuracy in %, class order of seed {}\n{}{}", row.name,
                        run.class_seed, matrix_text(run.result), notes_text(run.result));
  }
  text += "\n" + summary_text(evaluation);
  return text + fmt::format("\nfeatures {}, peak memory {}\n",
                            duration_text(evaluation.extract_seconds),
                            bytes_text(evaluation.peak_bytes));
}

}  // namespace engram
