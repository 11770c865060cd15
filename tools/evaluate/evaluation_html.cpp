// An evaluation as one page: no script, no font, no picture from elsewhere.
#include <algorithm>

#include <fmt/format.h>

#include "platform/version.h"
#include "tools/adapt/adapt_report.h"
#include "tools/console/progress.h"
#include "tools/console/units.h"
#include "tools/evaluate/evaluation_report.h"
#include "tools/report_svg.h"

namespace engram {
namespace {

constexpr const char* kStyle = R"(
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#222;background:#fff;max-width:1180px;margin:40px auto;padding:0 24px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 8px}
p.note{color:#555;margin:2px 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:right;border-bottom:1px solid #e5e5e5}
th:first-child,td:first-child{text-align:left}th{font-weight:600;border-bottom:2px solid #bbb}
tr.best td{font-weight:600}
figure{margin:16px 0;overflow-x:auto}
details{margin:6px 0}summary{cursor:pointer}
)";

std::string cells(const std::vector<std::string>& values, const char* tag) {
  std::string html;
  for (const std::string& value : values) {
    html += fmt::format("<{0}>{1}</{0}>", tag, xml_escape(value));
  }
  return html;
}

std::string summary_table(const Evaluation& evaluation) {
  double best = -1;
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.head != Head::probe) best = std::max(best, row.final_accuracy().mean);
  }
  std::string html = "<table>\n<tr>" +
                     cells({"head", "M", "lambda", "runs", "A_T %", "mean A_t %", "F_T", "top-1 %",
                            "balanced %", "seconds"},
                           "th") +
                     "</tr>\n";
  for (const EvaluationRow& row : evaluation.rows) {
    const auto last = [&](double TaskResult::*value) {
      return mean_text(
          row.over_runs([&](const ProtocolResult& r) { return r.tasks.back().*value; }));
    };
    const bool leads = row.head != Head::probe && row.final_accuracy().mean >= best;
    html += fmt::format("<tr{}>", leads ? " class=\"best\"" : "");
    html += cells(
        {row.name, projects(row.head) ? fmt::to_string(row.config.hidden) : "-",
         has_lambda(row.head) ? name(row.config.lambda_rule) : "-", fmt::to_string(row.runs.size()),
         last(&TaskResult::average_accuracy),
         mean_text(row.over_runs([](const ProtocolResult& r) { return r.mean_average_accuracy; })),
         last(&TaskResult::forgetting), last(&TaskResult::top1), last(&TaskResult::balanced),
         fmt::format("{:.1f}",
                     row.over_runs([](const ProtocolResult& r) { return r.seconds; }).mean)},
        "td");
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string task_table(const EvaluationRow& row) {
  std::string html =
      fmt::format("<details><summary>{}</summary>\n<table>\n<tr>", xml_escape(row.name));
  html += cells({"task", "classes", "A_t %", "F_t", "top-1 %", "balanced %", "lambda", "learn s",
                 "solve s", "test s", "note"},
                "th") +
          "</tr>\n";
  for (std::size_t t = 0; t < row.first().tasks.size(); ++t) {
    const TaskResult& task = row.first().tasks[t];
    html +=
        "<tr>" +
        cells({fmt::to_string(t + 1), fmt::to_string(task.classes_seen),
               percent_text(task.average_accuracy), percent_text(task.forgetting),
               percent_text(task.top1), percent_text(task.balanced),
               task.lambda > 0 ? fmt::format("{:.3g}", task.lambda) : "-",
               fmt::format("{:.3f}", task.learn_seconds), fmt::format("{:.3f}", task.solve_seconds),
               fmt::format("{:.3f}", task.test_seconds), task.note},
              "td") +
        "</tr>\n";
  }
  return html + "</table></details>\n";
}

}  // namespace

std::string evaluation_html(const Evaluation& evaluation) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Engram: "
      "evaluation</title>\n<style>{}</style>\n<h1>Engram: evaluation</h1>\n",
      kStyle);
  const auto note = [&](const std::string& text) {
    html += fmt::format("<p class=\"note\">{}</p>\n", xml_escape(text));
  };
  note(evaluation_subject(evaluation));
  note(fmt::format("training: {}; test: {}", evaluation.train, evaluation.test));
  if (evaluation.measured_scale) {
    note(fmt::format("exact: feature scale {:g} and gain {} measured on the training features",
                     evaluation.feature_scale, evaluation.hidden_mul));
  }
  note(fmt::format("features {}, peak memory {}, engram {}",
                   duration_text(evaluation.extract_seconds), bytes_text(evaluation.peak_bytes),
                   version()));
  for (const Phase1Run& run : evaluation.phase1) note(phase1_text(run));
  html += "<h2>After the last task</h2>\n" + summary_table(evaluation);
  html += fmt::format("<figure>{}</figure>\n", accuracy_plot(evaluation));
  if (const std::string plot = hidden_plot(evaluation); !plot.empty()) {
    html += fmt::format("<figure>{}</figure>\n", plot);
  }
  for (const Phase1Run& run : evaluation.phase1) {
    html += fmt::format(
        "<figure>{}</figure>\n",
        adapt_curves_svg(run.curves, "Phase 1 on the first task",
                         fmt::format("class order of seed {}: {}", run.class_seed, run.adapted)));
  }
  html += "<h2>Task by task</h2>\n";
  for (const EvaluationRow& row : evaluation.rows) html += task_table(row);
  return html +
         "<h2>Words</h2>\n<p class=\"note\">A_t: average accuracy after task t. F_t: how much of "
         "the best earlier accuracy on each task is lost, in points. R: accuracy on each task "
         "after each task. balanced: the mean over classes of the accuracy on each. ±: standard "
         "deviation over runs with other seeds.</p>\n</html>\n";
}

}  // namespace engram
