#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/file.h"
#include "tools/commands.h"
#include "tools/evaluation_data.h"
#include "tools/evaluation_report.h"
#include "tools/exit_code.h"
#include "tools/learner_options.h"
#include "tools/open_model.h"
#include "tools/progress.h"
#include "tools/terminal.h"
#include "tools/units.h"

namespace engram {
namespace {

struct EvaluateOptions {
  std::string train, test, out = "engram-report", protocol = "cil";
  std::vector<std::string> heads{"ranpac"};
  int tasks = 0;  // 0: 10, or as many as there are classes
  std::uint32_t class_seed = 1993;
  LearnerOptions learner;
};

struct HeadChoice {
  std::string name;
  Head head = Head::ranpac;
  LearnerConfig config;
};

// "exact", "float" and "float-bipolar" are RanPAC in that arithmetic; "ranpac" is as the other
// options say.
Result<HeadChoice> choose_head(const std::string& word, const LearnerConfig& base) {
  HeadChoice choice{word, Head::ranpac, base};
  if (word == "exact") {
    choice.config.arithmetic = Arithmetic::exact;
    choice.config.weights = Weights::bipolar;
    choice.config.nonlinearity = Nonlinearity::relu;
  } else if (word == "float" || word == "float-bipolar") {
    choice.config.arithmetic = Arithmetic::floating;
    choice.config.weights = word == "float" ? Weights::gaussian : Weights::bipolar;
  } else {
    ENGRAM_ASSIGN(choice.head, parse_head(word == "none" ? "no-projection" : word));
  }
  return choice;
}

Result<std::vector<HeadChoice>> choose_heads(const EvaluateOptions& options) {
  if (options.protocol != "cil") {
    return Status(Code::invalid_argument,
                  fmt::format("--protocol {}: only cil (class-incremental learning) is known.",
                              printable(options.protocol)));
  }
  ENGRAM_ASSIGN(const LearnerConfig base, apply(options.learner, LearnerConfig{}));
  std::vector<HeadChoice> heads;
  for (const std::string& word : options.heads) {
    ENGRAM_ASSIGN(HeadChoice choice, choose_head(word, base));
    heads.push_back(std::move(choice));
  }
  return heads;
}

Result<ProtocolResult> run_head(const HeadChoice& head, const EvaluationData& data,
                                const ModelCard& card, const EvaluateOptions& options,
                                const Console& console) {
  const int classes = static_cast<int>(data.classes.size());
  ProtocolOptions protocol;
  protocol.head = head.head;
  protocol.config = head.config;
  protocol.config.backbone = card.sha256;
  protocol.config.features = card.features;
  protocol.config.feature_scale = card.feature_scale;
  protocol.config.hidden_mul = card.hidden_mul;
  protocol.tasks = options.tasks > 0 ? options.tasks : std::min(10, classes);
  protocol.class_seed = options.class_seed;
  Progress progress(console.shows_progress(), head.name, protocol.tasks, "task");
  int done = 0;
  protocol.progress = [&](const ProtocolProgress& now) {
    progress.advance(now.task - 1 - done);
    done = now.task - 1;
  };
  return run_protocol(data.view(), protocol);
}

Status write_text(const std::string& path, const std::string& text) {
  return replace_file(path, std::as_bytes(std::span(text)));
}

Result<int> run_evaluate(const Session& session, const EvaluateOptions& options) {
  const Console& console = session.console;
  ENGRAM_ASSIGN(const std::vector<HeadChoice> heads, choose_heads(options));
  ENGRAM_ASSIGN(FeatureExtractor extractor, open_model(session.global));
  ENGRAM_ASSIGN(const EvaluationData data,
                read_evaluation_data(extractor, options.train, options.test, console));
  Evaluation evaluation{.model = extractor.card().name,
                        .train = options.train,
                        .test = options.test,
                        .classes = data.classes,
                        .train_pictures = std::ssize(data.y_train),
                        .test_pictures = std::ssize(data.y_test),
                        .skipped = data.skipped,
                        .features = extractor.features(),
                        .hidden = heads.front().config.hidden,
                        .class_seed = options.class_seed,
                        .extract_seconds = data.train.seconds + data.test.seconds,
                        .peak_bytes = 0,
                        .heads = {}};
  for (const HeadChoice& head : heads) {
    ENGRAM_ASSIGN(ProtocolResult result, run_head(head, data, extractor.card(), options, console));
    evaluation.heads.push_back({head.name, std::move(result)});
  }
  evaluation.peak_bytes = peak_memory_bytes();

  const std::string text = evaluation_text(evaluation);
  const nlohmann::ordered_json json = evaluation_json(evaluation);
  ENGRAM_TRY(make_directories(options.out));
  ENGRAM_TRY(write_text(options.out + "/report.txt", text));
  ENGRAM_TRY(write_text(options.out + "/report.json", json_text(json) + "\n"));
  ENGRAM_TRY(write_text(options.out + "/accuracy.svg", evaluation_svg(evaluation)));
  console.answer(text);
  console.note(fmt::format("written to {0}/: report.txt, report.json, accuracy.svg\n",
                           printable(options.out)));
  console.object(json);
  return data.skipped == 0 ? 0 : kExitSomeSkipped;
}

}  // namespace

void add_evaluate(CLI::App& app, Session& session) {
  const auto options = std::make_shared<EvaluateOptions>();
  const Manual manual{
      .name = "evaluate",
      .summary = "measure accuracy and forgetting on your own pictures",
      .synopsis = "engram evaluate --train DIR --test DIR [--tasks N] [--head LIST]",
      .description =
          "Learns the classes of --train in tasks, one after another, and after each task tests on "
          "--test: the accuracy matrix R (row t: accuracy on each earlier task after task t), "
          "average accuracy A_t, forgetting F_t and top-1, with time and peak memory. Written as "
          "text, JSON and an SVG plot. No state is touched.\n\n"
          "Heads, several with commas: ranpac (as the options say), exact, float, float-bipolar "
          "(RanPAC in that arithmetic), none (ridge regression without projection), ncm (nearest "
          "class mean). The features are computed once for all of them.",
      .example =
          "engram evaluate --train photos/train --test photos/test --tasks 10 "
          "--head exact,float,ncm"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_evaluate(session, *options); });
  command->add_option("--train", options->train, "Training pictures, a folder per class")
      ->type_name("DIR")
      ->required();
  command->add_option("--test", options->test, "Test pictures, the same folders")
      ->type_name("DIR")
      ->required();
  command->add_option("--tasks", options->tasks, "Tasks (default 10, at most one per class)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000));
  command->add_option("--head", options->heads, "What to measure (default ranpac)")
      ->type_name("LIST")
      ->delimiter(',');
  command->add_option("--protocol", options->protocol, "cil: class-incremental (the only one)")
      ->type_name("NAME");
  command->add_option("--seed", options->class_seed, "Order of the classes (default 1993)")
      ->type_name("N");
  command->add_option("--out", options->out, "Folder of the report (default engram-report)")
      ->type_name("DIR");
  add_learner_options(*command, options->learner, "--projection-seed");
}

}  // namespace engram
