#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "engine/device_plan.h"
#include "engine/model_store.h"
#include "kernels/backend.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/plan_report.h"

namespace engram {
namespace {

constexpr int kUsualFeatures = 1280;  // of the default backbone

std::string device_names() {
  std::string names;
  for (const Device& device : devices()) names += fmt::format("{}, ", device.name);
  return names;
}

// L: of the backbone that --model names, which must be here, or as --features says.
Result<int> features_of(const GlobalOptions& global, const PlanOptions& options) {
  if (global.model.empty()) return options.features.value_or(kUsualFeatures);
  if (options.features) {
    return Status(Code::invalid_argument,
                  "--model and --features both say how many features there are; give one of them.");
  }
  if (global.home.empty()) {
    return Status(Code::invalid_argument,
                  "nobody says where models are kept: HOME is not set, nor is ENGRAM_HOME. Say "
                  "--features L instead of --model, or name a folder with --home DIR.");
  }
  ENGRAM_ASSIGN(const StoredModel model, ModelStore(global.home).find(global.model));
  return model.card.features;
}

Result<Planned> choose_plan(const GlobalOptions& global, const PlanOptions& options) {
  Planned planned;
  ENGRAM_ASSIGN(planned.config, apply(options.learner, LearnerConfig{}));
  ENGRAM_ASSIGN(planned.config.features, features_of(global, options));
  // On the CPU there is nothing to bring anywhere. A device by name is a GPU, wherever this runs.
  planned.peaks = published_peaks(options.device);
  planned.on_gpu = planned.peaks.has_value() || backend_in_use().device.has_value();
  if (!options.device.empty()) {
    ENGRAM_ASSIGN(planned.budget, parse_budget(options.device));
    if (!options.learner.hidden) {
      ENGRAM_ASSIGN(
          planned.config.hidden,
          largest_hidden(planned.config, options.classes, planned.budget, options.task_samples,
                         options.samples, planned.on_gpu ? staging_bytes : nullptr));
      planned.chosen = true;
    }
  }
  ENGRAM_TRY(validate(planned.config));
  return planned;
}

Result<int> run_plan(const Session& session, const PlanOptions& options) {
  ENGRAM_ASSIGN(const Planned planned, choose_plan(session.global, options));
  report_plan(session.console, planned, options, session.global.model);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PlanOptions>();
  const Manual manual{
      .name = "plan",
      .summary = "how much memory a learner takes, before it takes any",
      .synopsis =
          "engram plan [--device NAME|BYTES] [--hidden M] [--features L|--model NAME] [--classes "
          "K] "
          "[--samples N]",
      .description =
          "Prints one row per buffer: name, shape, how long it lives, bytes. A learner holds the "
          "samples themselves as long as they are few (factored), then sums of M x M (dense), and "
          "beside them L bytes of each sample unless --keep-features is no: --samples says how "
          "many "
          "there are. With --device and without --hidden it chooses the "
          "largest M that fits the device, and for a device by name it estimates the time of every "
          "operation of the learner on its GPU, from its published peaks and the machine code of "
          "the kernels. (Those of Phase 1: engram adapt --plan.)\n\n"
          "Devices: " +
          device_names() + "or a number of bytes such as 512MiB or 3GB.",
      .example = "engram plan --device orin-nano-8gb --features 768 --classes 200"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_plan(session, *options); });
  command->add_option("--device", options->device, "A device by name, or bytes for the learner")
      ->type_name("NAME");
  command
      ->add_option("--features", options->features,
                   "L, features of the backbone (default: of --model, else 1280)")
      ->type_name("L")
      ->check(CLI::Range(1, 65536));
  command->add_option("--classes", options->classes, "K, classes to make room for (default 100)")
      ->type_name("K")
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--task-samples", options->task_samples,
                   "Samples of the longest task (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
  command
      ->add_option("--samples", options->samples,
                   "Samples learned in all (default: 2 M, four times what the factored form holds)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{100'000'000}));
  add_learner_options(*command, options->learner);
}

}  // namespace engram
