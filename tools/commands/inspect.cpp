#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/state_backbone.h"
#include "engine/store.h"
#include "engine/store_load.h"
#include "tools/backend_report.h"
#include "tools/commands/commands.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/unknown_report.h"

namespace engram {
namespace {

std::int64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

std::string model_name(const Session& session, const LearnerConfig& config) {
  const auto model = find_backbone(ModelStore(session.global.home), config, "", "this state");
  return model.ok() ? model->card.name : "not in the store here";
}

std::string form_text(const Learner& learner) {
  const LearnerConfig& config = learner.config();
  if (learner.form() == Form::dense) {
    const std::string sums = fmt::format("dense, {0} x {0}", config.hidden_units());
    if (!config.keep_features) return sums;
    return fmt::format("{}; {} kept", sums,
                       plural(std::int64_t(learner.kept_samples().size()), "sample", "samples"));
  }
  return fmt::format("factored, {} kept; dense beyond {}",
                     plural(learner.samples(), "sample", "samples"),
                     count_text(factored_limit(config)));
}

Result<int> run_inspect(const Session& session) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  const StorePaths paths(state);
  ENGRAM_ASSIGN(const LoadedStore loaded, load_store(paths, LoadCheck::none));
  const Learner& learner = loaded.learner;
  const LearnerConfig& config = learner.config();
  const auto readout = learner.readout();
  const std::string digest = learner.digest();
  const std::string model = model_name(session, config);
  const std::int64_t snapshot = size_of(paths.snapshot), journal = size_of(paths.journal),
                     readout_bytes = size_of(paths.readout);
  const std::int64_t memory = plan(config, std::max<int>(1, int(learner.classes().size())),
                                   learner.task_samples(), learner.samples())
                                  .total();
  const bool exact = config.arithmetic == Arithmetic::exact;
  const std::string rule = config.lambda_rule == LambdaRule::fixed
                               ? fmt::format("fixed {}", config.lambda)
                               : name(config.lambda_rule);

  std::vector<std::pair<const char*, std::string>> lines{
      {"state", printable(state)},
      {"backbone", fmt::format("{}  sha256 {:.16}", printable(model), config.backbone)},
      {"learner",
       fmt::format("{}  L {}  M {}  {}  {}  seed {}", name(config.arithmetic), config.features,
                   config.hidden, name(config.weights), name(config.nonlinearity), config.seed)},
      {"form", form_text(learner)},
      {"memory", bytes_text(memory) + " when a task ends"},
      {"computes on", backend_text()},
      {"lambda", readout ? fmt::format("{:g}  (rule {})", readout->lambda, rule) : "rule " + rule},
      {"learned", fmt::format("{}, {}, {}", plural(learner.samples(), "sample", "samples"),
                              plural(std::ssize(learner.classes()), "class", "classes"),
                              plural(learner.tasks(), "task", "tasks"))},
      {"unknown", unknown_sentence(readout.get())},
      {"on disk", fmt::format("snapshot {}, journal {}, readout {}", bytes_text(snapshot),
                              bytes_text(journal), bytes_text(readout_bytes))},
      {"digest", digest}};
  if (learner.task_samples() > 0) {
    lines.insert(lines.end() - 2,
                 {"open task", plural(learner.task_samples(), "sample", "samples") +
                                   ", not yet in the answers"});
  }
  if (!learner.has_feature_sums()) lines.push_back({"lacks", kWithoutFeatureSums});
  if (exact) {
    const std::string rounding = learner.rounding_note();
    lines.push_back({"exact until", count_text(learner.exact_until()) + " samples" +
                                        (rounding.empty() ? "" : ". " + rounding)});
  }
  for (const auto& [key, value] : lines) {
    session.console.answer(paint(pad(key, 12), Style::bold, session.console.colour()) + value +
                           "\n");
  }
  nlohmann::ordered_json answer{{"state", state},
                                {"model", model},
                                {"config", nlohmann::ordered_json::parse(to_json(config))},
                                {"form", name(learner.form())},
                                {"factored_until", factored_limit(config)},
                                {"memory_bytes", memory},
                                {"backend", backend_json()},
                                {"samples", learner.samples()},
                                {"open_task_samples", learner.task_samples()},
                                {"classes", learner.classes().size()},
                                {"feature_sums", learner.has_feature_sums()},
                                {"tasks", learner.tasks()},
                                {"lambda", nullptr},
                                {"unknown", unknown_json(readout.get())},
                                {"digest", digest},
                                {"sequence", loaded.mark.sequence},
                                {"snapshot_bytes", snapshot},
                                {"journal_bytes", journal},
                                {"readout_bytes", readout_bytes}};
  if (readout) answer["lambda"] = readout->lambda;
  if (exact) {
    answer["exact_until"] = learner.exact_until();
    answer["rounded"] = !learner.rounding_note().empty();
  }
  session.console.object(answer);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, Session& session) {
  const Manual manual{
      .name = "inspect",
      .summary = "what a state is made of",
      .synopsis = "engram inspect [--state DIR]",
      .description =
          "Prints the backbone and the settings a state was made with, what was learned, the "
          "lambda in use, sizes on disk, and the digest: two states with equal digests hold the "
          "same statistics to the bit, whatever the order in which they learned. \"exact until\" "
          "is the number of samples up to which no sum can have been rounded. Works while another "
          "process learns.",
      .example = "engram inspect --state desk --json"};
  add_command(app, session, manual, [&session] { return run_inspect(session); });
}

}  // namespace engram
