#include "tools/plan_report.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/device_plan.h"
#include "kernels/kernels.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

// What the form is, and when it changes.
std::string plan_form_text(const LearnerConfig& config, const PlanOptions& options,
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

// The buffers as rows, for both ways to print them.
struct PlannedRows {
  Table table{{{"buffer"}, {"shape"}, {"lifetime"}, {"bytes", Align::right}}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::int64_t total = 0;

  void add(const std::string& buffer, const std::string& shape, Lifetime lifetime,
           std::int64_t bytes) {
    table.add({buffer, shape, name(lifetime), bytes_text(bytes)});
    json.push_back(
        {{"name", buffer}, {"shape", shape}, {"lifetime", name(lifetime)}, {"bytes", bytes}});
  }
};

PlannedRows planned_rows(const Planned& planned, const PlanOptions& options,
                         const MemoryPlan& memory) {
  PlannedRows rows;
  for (const PlannedBuffer& buffer : memory.buffers) {
    rows.add(buffer.name, buffer.shape, buffer.lifetime, buffer.bytes);
  }
  rows.total = memory.total();
  if (planned.on_gpu) {
    const std::int64_t staging = staging_bytes(planned.config, options.classes);
    rows.add("staging", "(2 K + 512, max(M, L)) float", Lifetime::always, staging);
    rows.total += staging;
  }
  rows.table.add({"all at once, at most", "", "", bytes_text(rows.total)});
  return rows;
}

// Times on a GPU that is named, from its published peaks.
void tell_estimates(const Console& console, const Planned& planned, const PlanOptions& options,
                    nlohmann::ordered_json& answer) {
  const LearnerConfig& config = planned.config;
  // The samples that a learner still holds as such: a task, or less where it moves on before.
  const std::int64_t kept = std::min<std::int64_t>(options.samples.value_or(options.task_samples),
                                                   std::max(factored_limit(config), 1));
  const OperationShape shape{.features = config.features,
                             .units = config.hidden_units(),
                             .classes = options.classes,
                             .samples = int(std::max<std::int64_t>(kept, 1))};
  const std::vector<EstimatedOperation> operations =
      estimate_operations(*planned.peaks, shape, {1, 4, 16, 32, 48, kMaxBatchRows},
                          config.arithmetic == Arithmetic::exact);
  console.answer("\n" + estimate_text(*planned.peaks, operations, console.colour()));
  answer["estimates"] = estimate_json(*planned.peaks, operations);
  answer["estimates"]["samples"] = shape.samples;
}

std::string fit_text(const Planned& planned, const PlanOptions& options, bool fits) {
  return fmt::format(
      "\n{}: {} for the learner. {}\n", printable(options.device), bytes_text(planned.budget),
      planned.chosen ? fmt::format("The largest M that fits is {}.", planned.config.hidden)
      : fits         ? std::string("It fits.")
                     : std::string("It does not fit: take a smaller --hidden."));
}

}  // namespace

void report_plan(const Console& console, const Planned& planned, const PlanOptions& options,
                 const std::string& model) {
  const LearnerConfig& config = planned.config;
  const MemoryPlan memory = plan(config, options.classes, options.task_samples, options.samples);
  const PlannedRows rows = planned_rows(planned, options, memory);
  const bool fits = planned.budget == 0 || rows.total <= planned.budget;

  console.answer(fmt::format("M {}  L {}  {}, tasks of {}, {}\n\n", config.hidden, config.features,
                             plural(options.classes, "class", "classes"),
                             plural(options.task_samples, "sample", "samples"),
                             name(config.arithmetic)));
  console.answer(rows.table.text(console.colour()));
  console.answer("\n" + plan_form_text(config, options, memory) + "\n");
  if (planned.budget > 0) console.answer(fit_text(planned, options, fits));
  nlohmann::ordered_json answer{{"hidden", config.hidden},
                                {"features", config.features},
                                {"classes", options.classes},
                                {"task_samples", options.task_samples},
                                {"arithmetic", name(config.arithmetic)},
                                {"form", name(memory.form)},
                                {"factored_until", factored_limit(config)},
                                {"buffers", rows.json},
                                {"total_bytes", rows.total},
                                {"reader_bytes", memory.scorer_arena_bytes()}};
  if (planned.peaks) tell_estimates(console, planned, options, answer);
  if (!model.empty()) answer["model"] = model;
  if (options.samples) answer["samples"] = *options.samples;
  if (planned.budget > 0) {
    answer["device"] = options.device;
    answer["budget_bytes"] = planned.budget;
    answer["fits"] = fits;
  }
  console.object(answer);
}

}  // namespace engram
