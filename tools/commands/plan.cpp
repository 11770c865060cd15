#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/device_plan.h"
#include "engine/memory_plan.h"
#include "kernels/backend.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/estimate_report.h"
#include "tools/table.h"
#include "tools/units.h"

namespace engram {
namespace {

struct PlanOptions {
  std::string device;
  int features = 1280;
  int classes = 100;
  std::int64_t task_samples = 1000;
  std::optional<std::int64_t> samples;  // learned in all; none: many
  LearnerOptions learner;
};

std::string device_names() {
  std::string names;
  for (const Device& device : devices()) names += fmt::format("{}, ", device.name);
  return names;
}

// What the form is, and when it changes.
std::string form_text(const LearnerConfig& config, const PlanOptions& options,
                      const MemoryPlan& memory) {
  const int limit = factored_limit(config);
  if (limit == 0) return "Form: dense from the start, G is M x M.";
  if (memory.form == Form::factored) {
    return fmt::format(
        "Form: factored, {} and their kernel matrix. Dense beyond {}, with {} in all. Readouts of "
        "kind lda and balanced take {} more while they are made.",
        plural(*options.samples, "sample", "samples"), plural(limit, "sample", "samples"),
        bytes_text(plan(config, options.classes, options.task_samples).total()),
        bytes_text(other_readout_bytes(config, options.classes)));
  }
  return fmt::format(
      "Form: dense. Up to {} it is factored, with at most {} in all.",
      plural(limit, "sample", "samples"),
      bytes_text(plan(config, options.classes, options.task_samples, limit).total()));
}

Result<int> run_plan(const Session& session, const PlanOptions& options) {
  ENGRAM_ASSIGN(LearnerConfig config, apply(options.learner, LearnerConfig{}));
  config.features = options.features;
  std::int64_t budget = 0;
  bool chosen = false;  // M was chosen here
  // On the CPU there is nothing to bring anywhere. A device by name is a GPU, wherever this runs.
  const std::optional<DevicePeaks> peaks = published_peaks(options.device);
  const bool on_gpu = peaks.has_value() || backend_in_use().device.has_value();
  if (!options.device.empty()) {
    ENGRAM_ASSIGN(budget, parse_budget(options.device));
    if (!options.learner.hidden) {
      ENGRAM_ASSIGN(config.hidden,
                    largest_hidden(config, options.classes, budget, options.task_samples,
                                   options.samples, on_gpu ? staging_bytes : nullptr));
      chosen = true;
    }
  }
  ENGRAM_TRY(validate(config));
  const MemoryPlan memory = plan(config, options.classes, options.task_samples, options.samples);

  Table table({{"buffer"}, {"shape"}, {"lifetime"}, {"bytes", Align::right}});
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const PlannedBuffer& buffer : memory.buffers) {
    table.add({buffer.name, buffer.shape, name(buffer.lifetime), bytes_text(buffer.bytes)});
    rows.push_back({{"name", buffer.name},
                    {"shape", buffer.shape},
                    {"lifetime", name(buffer.lifetime)},
                    {"bytes", buffer.bytes}});
  }
  std::int64_t total = memory.total();
  if (on_gpu) {
    const std::int64_t staging = staging_bytes(config, options.classes);
    const char* const shape = "(2 K + 512, max(M, L)) float";
    total += staging;
    table.add({"staging", shape, name(Lifetime::always), bytes_text(staging)});
    rows.push_back({{"name", "staging"},
                    {"shape", shape},
                    {"lifetime", name(Lifetime::always)},
                    {"bytes", staging}});
  }
  table.add({"all at once, at most", "", "", bytes_text(total)});
  const bool fits = budget == 0 || total <= budget;

  const Console& console = session.console;
  console.answer(fmt::format("M {}  L {}  {}, tasks of {}, {}\n\n", config.hidden, config.features,
                             plural(options.classes, "class", "classes"),
                             plural(options.task_samples, "sample", "samples"),
                             name(config.arithmetic)));
  console.answer(table.text(console.colour()));
  console.answer("\n" + form_text(config, options, memory) + "\n");
  if (budget > 0) {
    console.answer(fmt::format("\n{}: {} for the learner. {}\n", options.device, bytes_text(budget),
                               chosen ? fmt::format("The largest M that fits is {}.", config.hidden)
                               : fits ? std::string("It fits.")
                                      : std::string("It does not fit: take a smaller --hidden.")));
  }
  nlohmann::ordered_json answer{{"hidden", config.hidden},
                                {"features", config.features},
                                {"classes", options.classes},
                                {"task_samples", options.task_samples},
                                {"arithmetic", name(config.arithmetic)},
                                {"form", name(memory.form)},
                                {"factored_until", factored_limit(config)},
                                {"buffers", rows},
                                {"total_bytes", total},
                                {"reader_bytes", memory.scorer_arena_bytes()}};
  if (peaks) {
    // The samples that a learner still holds as such: a task, or less where it moves on before.
    const std::int64_t kept = std::min<std::int64_t>(options.samples.value_or(options.task_samples),
                                                     std::max(factored_limit(config), 1));
    const OperationShape shape{.features = config.features,
                               .units = config.hidden_units(),
                               .classes = options.classes,
                               .samples = int(std::max<std::int64_t>(kept, 1))};
    const std::vector<EstimatedOperation> rows = estimate_operations(
        *peaks, shape, {1, 4, 16, 32, 48, kMaxBatchRows}, config.arithmetic == Arithmetic::exact);
    console.answer("\n" + estimate_text(*peaks, rows, console.colour()));
    answer["estimates"] = estimate_json(*peaks, rows);
    answer["estimates"]["samples"] = shape.samples;
  }
  if (options.samples) answer["samples"] = *options.samples;
  if (budget > 0) {
    answer["device"] = options.device;
    answer["budget_bytes"] = budget;
    answer["fits"] = fits;
  }
  console.object(answer);
  return 0;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PlanOptions>();
  const Manual manual{
      .name = "plan",
      .summary = "how much memory a learner takes, before it takes any",
      .synopsis =
          "engram plan [--device NAME|BYTES] [--hidden M] [--features L] [--classes K] "
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
  command->add_option("--features", options->features, "L, features of the backbone (default 1280)")
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
