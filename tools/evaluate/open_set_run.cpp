#include "tools/evaluate/open_set_run.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/file.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/evaluate/open_set_report.h"

namespace engram {
namespace {

Status write_report_file(const std::string& path, const std::string& text) {
  return replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

Status evaluate_open_set(const EvaluateOptions& options, const EvaluationData& data,
                         const Evaluation& evaluation, const Console& console) {
  const EvaluationRow& row = evaluation.rows.front();
  if (row.head != Head::engram && row.head != Head::ranpac && row.head != Head::no_projection) {
    return Status(
        Code::invalid_argument,
        fmt::format("--open-set measures engram, ranpac or none, not {}.", name(row.head)));
  }
  OpenSetOptions open;
  open.config = row.config;
  open.config.feature_scale = evaluation.feature_scale;
  open.config.hidden_mul = evaluation.hidden_mul;
  if (row.head != Head::engram) open.config.readout = ReadoutKind::ridge;
  if (row.head == Head::no_projection) {
    open.config.arithmetic = Arithmetic::floating;
    open.config.hidden = 0;
  }
  open.held_out = options.open_set;
  open.false_alarms = options.false_alarm / 100;
  open.shots = options.shots;
  open.tasks = std::max(options.tasks, 1);
  std::vector<OpenSetResult> results;
  {
    Progress progress(console.shows_progress(), "open set", std::ssize(options.class_seeds), "run");
    for (const std::uint32_t seed : options.class_seeds) {
      open.seed = seed;
      ENGRAM_ASSIGN(OpenSetResult result, run_open_set(data.view(), open));
      results.push_back(std::move(result));
      progress.advance(1);
    }
  }
  const std::string text = open_set_text(results, open.false_alarms);
  nlohmann::ordered_json json = open_set_json(results, open.false_alarms);
  json["model"] = evaluation.model;
  const std::string subtitle =
      fmt::format("{}, L {}, M {}", evaluation.model, evaluation.features, open.config.hidden);
  console.answer(text);  // before the files: a full disk must not take the result away
  console.object(json);
  ENGRAM_TRY(write_report_file(options.out + "/open_set.txt", text));
  ENGRAM_TRY(write_report_file(options.out + "/open_set.json", json_text(json) + "\n"));
  ENGRAM_TRY(write_report_file(options.out + "/reliability.svg",
                               reliability_svg(results.front().reliability,
                                               subtitle + ", all test samples, unknown ones too")));
  ENGRAM_TRY(write_report_file(options.out + "/reliability_known.svg",
                               reliability_svg(results.front().reliability_known,
                                               subtitle + ", samples of taught classes")));
  console.note(fmt::format(
      "written to {}/: open_set.txt, open_set.json, reliability.svg, reliability_known.svg\n",
      printable(options.out)));
  return {};
}

}  // namespace engram
