#include "tools/evaluate/evaluation_report.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

namespace engram {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Two tasks; the second forgets some of the first.
EvaluationRow row(const std::string& name, Head head, int hidden, std::vector<double> finals) {
  EvaluationRow result;
  result.name = name;
  result.series = name.substr(0, name.find(", M"));
  result.head = head;
  result.config.hidden = hidden;
  for (std::size_t i = 0; i < finals.size(); ++i) {
    TaskResult first, last;
    first.classes_seen = 2;
    first.train_samples = first.test_samples = 4;
    first.accuracy = {100};
    first.average_accuracy = first.top1 = first.balanced = 100;
    last = first;
    last.classes_seen = 4;
    last.accuracy = {finals[i], kNone};
    last.average_accuracy = last.top1 = finals[i];
    last.forgetting = 100 - finals[i];
    last.lambda = 1000;
    last.note = i == 0 ? "a note, with a comma" : "";
    ProtocolResult protocol;
    protocol.class_order = {2, 0, 1, 3};
    protocol.task_sizes = {2, 2};
    protocol.tasks = {first, last};
    protocol.mean_average_accuracy = (100 + finals[i]) / 2;
    result.runs.push_back({std::uint32_t(1993 + i), 1, protocol});
  }
  return result;
}

Evaluation example() {
  Evaluation evaluation;
  evaluation.model = "tiny <b>";
  evaluation.classes = {"a", "b", "c", "d"};
  evaluation.features = 64;
  evaluation.rows = {row("exact, M 100", Head::ranpac, 100, {80, 90}),
                     row("exact, M 200", Head::ranpac, 200, {84, 92}),
                     row("ncm", Head::ncm, 2000, {70, 70})};
  return evaluation;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("evaluation report: text shows means over runs", "[tools][evaluation]") {
  const std::string text = evaluation_text(example());
  CHECK(text.find("85.0 ±7.1") != std::string::npos);
  CHECK(text.find("70.0 ±") == std::string::npos);  // the same in both runs
  CHECK(text.find("task 2: a note") != std::string::npos);
  CHECK(text.find("balanced") != std::string::npos);
}

TEST_CASE("evaluation report: JSON has every run and no NaN", "[tools][evaluation]") {
  const auto json = nlohmann::ordered_json::parse(evaluation_json(example()).dump());
  CHECK(json["protocol"] == "cil");
  CHECK(json["heads"].size() == 3);
  const auto& exact = json["heads"][0];
  CHECK(exact["average_accuracy"] == 85);
  CHECK(exact["hidden"] == 100);
  CHECK(exact["runs"].size() == 2);
  CHECK(exact["runs"][1]["class_seed"] == 1994);
  CHECK(exact["runs"][0]["tasks"][1]["accuracy"][1].is_null());
  CHECK(json["heads"][2]["hidden"].is_null());
  CHECK(json["heads"][2]["lambda_rule"].is_null());
}

TEST_CASE("evaluation report: CSV has a line per row, run and task", "[tools][evaluation]") {
  const std::string csv = evaluation_csv(example());
  CHECK(times(csv, "\n") == 1 + 3 * 2 * 2);
  CHECK(times(csv, "\"exact, M 100\",ranpac,100,") == 4);
  CHECK(times(csv, "ncm,ncm,,,") == 4);
}

TEST_CASE("evaluation report: one page with its plots", "[tools][evaluation]") {
  const Evaluation evaluation = example();
  const std::string html = evaluation_html(evaluation);
  CHECK(times(html, "<svg") == 2);  // accuracy, and accuracy over M
  CHECK(html.find("tiny &lt;b&gt;") != std::string::npos);
  CHECK(html.find("<b>") == std::string::npos);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(times(html, "class=\"best\"") == 1);
  CHECK(times(accuracy_plot(evaluation), "<polyline") == 3);
  CHECK(times(hidden_plot(evaluation), "<polyline") == 2);
  Evaluation one = evaluation;
  one.rows.erase(one.rows.begin());
  CHECK(hidden_plot(one).empty());
}

}  // namespace engram
