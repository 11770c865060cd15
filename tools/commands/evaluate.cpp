#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/calibrate.h"
#include "engine/state_backbone.h"
#include "platform/file.h"
#include "tools/commands/commands.h"
#include "tools/commands/evaluate_options.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/evaluate/evaluation_phase1.h"
#include "tools/evaluate/evaluation_report.h"
#include "tools/evaluate/evaluation_run.h"
#include "tools/evaluate/open_set_run.h"
#include "tools/exit_code.h"
#include "tools/open_model.h"
#include "tools/output_folder.h"
#include "tools/pictures/picture_stream.h"

namespace engram {
namespace {

constexpr int kScaleRows = 1000;  // features that the exact arithmetic's constants are measured on

// --features F names both parts; otherwise both must be named.
Status complete(EvaluateOptions& options) {
  DataSource& source = options.source;
  if (!options.features.empty()) {
    if (!source.train.empty() || !source.test.empty()) {
      return Status(Code::invalid_argument,
                    "--features names both parts; leave out --train and --test.");
    }
    source.train = source.test = options.features;
  }
  if (source.train.empty() || source.test.empty()) {
    return Status(Code::invalid_argument,
                  "Name the data: --train and --test, or --features. See engram evaluate --help.");
  }
  source.by_domain = options.protocol == name(Protocol::dil);
  return {};
}

// The constants of the exact arithmetic: the options', the model card's, or measured.
Status choose_scale(const EvaluateOptions& options,
                    const std::optional<FeatureExtractor>& extractor, const EvaluationData& data,
                    Evaluation& evaluation) {
  if (extractor) {
    evaluation.feature_scale = extractor->card().feature_scale;
    evaluation.hidden_mul = extractor->card().hidden_mul;
  } else {
    const int rows = data.train.rows(), every = std::max(1, rows / kScaleRows);
    std::vector<float> sample;
    for (int i = 0; i < rows; i += every) {
      const float* row = data.train.view().row(i);
      sample.insert(sample.end(), row, row + data.train.width);
    }
    const int width = data.train.width;
    const auto measured = calibrate({sample.data(), int(sample.size()) / width, width, width});
    const bool exact =
        std::any_of(evaluation.rows.begin(), evaluation.rows.end(), [](const EvaluationRow& row) {
          return projects(row.head) && row.config.arithmetic == Arithmetic::exact;
        });
    if (measured.ok()) {
      evaluation.feature_scale = measured.value().feature_scale;
      evaluation.hidden_mul = measured.value().hidden_mul;
      evaluation.measured_scale = exact;
    } else if (exact && (options.feature_scale <= 0 || options.hidden_mul <= 0)) {
      return measured.status();
    }
  }
  if (options.feature_scale > 0) evaluation.feature_scale = options.feature_scale;
  if (options.hidden_mul > 0) evaluation.hidden_mul = options.hidden_mul;
  return {};
}

Status write_text(const std::string& path, const std::string& text) {
  return replace_file(path, std::as_bytes(std::span(text)));
}

Result<int> evaluate(const Session& session, EvaluateOptions options) {
  const Console& console = session.console;
  ENGRAM_TRY(complete(options));
  Evaluation evaluation;
  ENGRAM_ASSIGN(evaluation.rows, choose_rows(options));
  ENGRAM_ASSIGN(evaluation.protocol, parse_protocol(options.protocol));
  ENGRAM_TRY(check_schedule(options));
  if (!options.phase1.empty()) ENGRAM_TRY(check_phase1(options, session.global));
  std::optional<FeatureExtractor> extractor;
  const auto open_extractor = [&]() -> Result<FeatureExtractor*> {
    ENGRAM_ASSIGN(extractor, open_model(session.global));
    return &*extractor;
  };
  ENGRAM_ASSIGN(const EvaluationData data,
                read_evaluation_data(options.source, open_extractor, console));
  log_skipped(console, data.skipped, "evaluated");
  evaluation.model = extractor ? extractor->card().name : "features";
  evaluation.train = options.source.train;
  evaluation.test = options.source.test;
  evaluation.classes = data.train.classes;
  evaluation.domains = data.train.domains;
  evaluation.train_samples = data.train.rows();
  evaluation.test_samples = data.test.rows();
  evaluation.skipped = data.skipped;
  evaluation.features = data.train.width;
  evaluation.extract_seconds = data.seconds;
  ENGRAM_TRY(choose_scale(options, extractor, data, evaluation));
  for (EvaluationRow& row : evaluation.rows) {
    row.config.backbone = extractor ? backbone_of(extractor->card()) : "features";
  }
  extractor.reset();  // its memory is not the learner's
  if (options.open_set > 0) {
    ENGRAM_TRY(evaluate_open_set(options, data, evaluation, console));
    return data.skipped == 0 ? 0 : kExitSomeSkipped;
  }
  ENGRAM_TRY(run_rows(options, data, console, evaluation));
  if (!options.phase1.empty()) ENGRAM_TRY(run_phase1(options, data, session, evaluation));
  evaluation.peak_bytes = peak_memory_bytes();

  const std::string text = evaluation_text(evaluation);
  const nlohmann::ordered_json json = evaluation_json(evaluation);
  console.answer(text);  // before the files: a full disk must not take the result away
  console.object(json);
  ENGRAM_TRY(write_text(options.out + "/report.txt", text));
  ENGRAM_TRY(write_text(options.out + "/report.json", json_text(json) + "\n"));
  ENGRAM_TRY(write_text(options.out + "/results.csv", evaluation_csv(evaluation)));
  ENGRAM_TRY(write_text(options.out + "/accuracy.svg", accuracy_plot(evaluation)));
  ENGRAM_TRY(write_text(options.out + "/report.html", evaluation_html(evaluation)));
  console.note(fmt::format(
      "written to {0}/: report.html, report.txt, report.json, results.csv, accuracy.svg\n",
      printable(options.out)));
  return data.skipped == 0 ? 0 : kExitSomeSkipped;
}

Result<int> run_evaluate(const Session& session, const EvaluateOptions& options) {
  ENGRAM_ASSIGN(const OutputFolder out, OutputFolder::make(options.out));
  return evaluate(session, options);
}

}  // namespace

void add_evaluate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EvaluateOptions>();
  const Manual manual{
      .name = "evaluate",
      .summary = "measure accuracy and forgetting on your own pictures or features",
      .synopsis =
          "engram evaluate --train DIR --test DIR [options]\n"
          "engram evaluate --features FILE.npz [options]",
      .description =
          "Learns --train in tasks, one after another, and after each task tests on --test: the "
          "accuracy matrix R (row t: accuracy on each earlier task after task t), average accuracy "
          "A_t, forgetting F_t, top-1 and balanced accuracy, with time and peak memory. Written as "
          "text, JSON, CSV, SVG and one HTML page. No state is touched.\n\n"
          "Protocols: cil, classes in tasks; dil, domains in turn (folders domain/class, or {} in "
          "the paths with --domains); task-free, a stream in which each class comes and goes; "
          "joint, everything at once.\n\n"
          "Heads, several with commas: engram (what `engram learn` makes), ranpac (ridge "
          "regression "
          "alone, as published), exact, float, float-bipolar "
          "(RanPAC in that arithmetic), none (ridge regression without projection), pairwise "
          "(products of the first 100 features), ncm (nearest class mean), lda and rp-lda (linear "
          "discriminant on features or hidden units), scaled and balanced (for classes of uneven "
          "size), regression (on --targets), probe (a linear probe trained jointly). Every head "
          "is run with every --hidden, --lambda and --nonlinearity; several --seed or "
          "--projection-seed give mean and deviation.\n\n"
          "--open-set 0.3 instead holds 30 % of the classes out, teaches the others at once and "
          "reports how well what was never seen is called unknown: area under the ROC curve beside "
          "that of the best score alone, false alarms reached, and whether probabilities are true "
          "(reliability.svg).\n\n"
          "--phase1 ssf (or adaptformer, vpt) adapts the backbone to the training pictures of the "
          "first task alone, as `engram adapt` does, and runs every head again on its features: "
          "rows with Phase 1 stand beside rows without. Several --seed adapt once each; no model "
          "is stored.\n\n"
          "Feature files need no backbone: an .npz with x (N, L) and y (N), or NAME_x.npy with "
          "NAME_y.npy beside it as `engram features` writes them; optional arrays are classes "
          "(names) and domain. With --features one .npz holds x_train, y_train, x_test, y_test "
          "(and domain_train, domain_test).",
      .example =
          "engram evaluate --train photos/train --test photos/test --tasks 10 "
          "--head exact,float,lda,ncm\n"
          "engram evaluate --features vit.npz --hidden 2000,5000,10000 --seed 1993,1994,1995"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_evaluate(session, *options); });
  add_evaluate_options(*command, *options);
}

}  // namespace engram
