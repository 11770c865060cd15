// An evaluation for programs: JSON and CSV.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/adapt/adapt_report.h"
#include "tools/evaluate/evaluation_report.h"

namespace engram {
namespace {

using Json = nlohmann::ordered_json;

Json json_number(double value) {  // JSON has no NaN
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json task_json(const TaskResult& task) {
  Json accuracy = Json::array();
  for (const double value : task.accuracy) accuracy.push_back(json_number(value));
  return {{"classes_seen", task.classes_seen},
          {"train_samples", task.train_samples},
          {"test_samples", task.test_samples},
          {"accuracy", accuracy},
          {"average_accuracy", json_number(task.average_accuracy)},
          {"forgetting", json_number(task.forgetting)},
          {"top1", json_number(task.top1)},
          {"balanced", json_number(task.balanced)},
          {"all_classes", json_number(task.all_classes)},
          {"lambda", task.lambda},
          {"note", task.note},
          {"learn_seconds", task.learn_seconds},
          {"solve_seconds", task.solve_seconds},
          {"test_seconds", task.test_seconds}};
}

Json run_json(const EvaluationRun& run) {
  Json tasks = Json::array();
  for (const TaskResult& task : run.result.tasks) tasks.push_back(task_json(task));
  const TaskResult& last = run.result.tasks.back();
  return {{"class_seed", run.class_seed},
          {"projection_seed", run.projection_seed},
          {"average_accuracy", json_number(last.average_accuracy)},
          {"mean_average_accuracy", json_number(run.result.mean_average_accuracy)},
          {"forgetting", json_number(last.forgetting)},
          {"top1", json_number(last.top1)},
          {"balanced", json_number(last.balanced)},
          {"seconds", run.result.seconds},
          {"class_order", run.result.class_order},
          {"task_sizes", run.result.task_sizes},
          {"predictions", run.result.predictions},  // after the last task, as indices of classes
          {"tasks", tasks}};
}

Json row_json(const EvaluationRow& row) {
  Json runs = Json::array();
  for (const EvaluationRun& run : row.runs) runs.push_back(run_json(run));
  const auto mean = [&](const auto& value) { return json_number(row.over_runs(value).mean); };
  const auto last = [&](double TaskResult::*value) {
    return mean([value](const ProtocolResult& r) { return r.tasks.back().*value; });
  };
  return {
      {"head", row.name},
      {"kind", name(row.head)},
      {"phase1", row.phase1.empty() ? Json(nullptr) : Json(row.phase1)},
      {"hidden", projects(row.head) ? Json(row.config.hidden) : Json(nullptr)},
      {"arithmetic", projects(row.head) ? Json(name(row.config.arithmetic)) : Json("float")},
      {"lambda_rule", has_lambda(row.head) ? Json(name(row.config.lambda_rule)) : Json(nullptr)},
      {"average_accuracy", last(&TaskResult::average_accuracy)},
      {"average_accuracy_deviation", json_number(row.final_accuracy().deviation)},
      {"mean_average_accuracy",
       mean([](const ProtocolResult& r) { return r.mean_average_accuracy; })},
      {"forgetting", last(&TaskResult::forgetting)},
      {"top1", last(&TaskResult::top1)},
      {"balanced", last(&TaskResult::balanced)},
      {"seconds", mean([](const ProtocolResult& r) { return r.seconds; })},
      {"runs", runs}};
}

Json phase1_json(const Phase1Run& run) {
  const auto percent = [](const RightAnswers& answers) {
    return answers.count == 0 ? Json(nullptr) : Json(answers.percent());
  };
  return {{"class_seed", run.class_seed},
          {"adapted", run.adapted},
          {"kept_epoch", run.kept_epoch},
          {"stopped_early", run.stopped_early},
          {"held_out", run.before.count},
          {"nearest_mean_before", percent(run.before)},
          {"nearest_mean_after", percent(run.after)},
          {"worth_adding", is_worth_adding(run.before, run.after)},
          {"seconds", run.seconds},
          {"feature_scale", run.feature_scale},
          {"hidden_mul", run.hidden_mul},
          {"curves", adapt_curves_json(run.curves)}};
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

}  // namespace

nlohmann::ordered_json evaluation_json(const Evaluation& evaluation) {
  Json heads = Json::array();
  for (const EvaluationRow& row : evaluation.rows) heads.push_back(row_json(row));
  Json phase1 = Json::array();
  for (const Phase1Run& run : evaluation.phase1) phase1.push_back(phase1_json(run));
  return {{"protocol", name(evaluation.protocol)},
          {"model", evaluation.model},
          {"train", evaluation.train},
          {"test", evaluation.test},
          {"classes", evaluation.classes},
          {"domains", evaluation.domains},
          {"train_samples", evaluation.train_samples},
          {"test_samples", evaluation.test_samples},
          {"skipped", evaluation.skipped},
          {"features", evaluation.features},
          {"feature_scale", evaluation.feature_scale},
          {"hidden_mul", evaluation.hidden_mul},
          {"scale_measured", evaluation.measured_scale},
          {"extract_seconds", evaluation.extract_seconds},
          {"peak_memory_bytes", evaluation.peak_bytes},
          {"phase1", phase1},
          {"heads", heads}};
}

std::string evaluation_csv(const Evaluation& evaluation) {
  std::string text =
      "head,kind,hidden,lambda_rule,class_seed,projection_seed,task,classes_seen,train_samples,"
      "test_samples,average_accuracy,forgetting,top1,balanced,all_classes,lambda,learn_seconds,"
      "solve_seconds,test_seconds\n";
  for (const EvaluationRow& row : evaluation.rows) {
    for (const EvaluationRun& run : row.runs) {
      for (std::size_t t = 0; t < run.result.tasks.size(); ++t) {
        const TaskResult& task = run.result.tasks[t];
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}", csv_text(row.name), name(row.head),
                            projects(row.head) ? fmt::to_string(row.config.hidden) : "",
                            has_lambda(row.head) ? name(row.config.lambda_rule) : "",
                            run.class_seed, run.projection_seed, t + 1, task.classes_seen,
                            task.train_samples, task.test_samples);
        for (const double value :
             {task.average_accuracy, task.forgetting, task.top1, task.balanced, task.all_classes,
              task.lambda, task.learn_seconds, task.solve_seconds, task.test_seconds}) {
          text += "," + csv_number(value);
        }
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace engram
