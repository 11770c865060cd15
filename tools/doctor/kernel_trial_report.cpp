#include "tools/doctor/kernel_trial_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "tools/console/table.h"
#include "tools/console/units.h"
#include "tools/estimate_report.h"

namespace engram {
namespace {

std::string agreement(const KernelTrial& trial) {
  if (!trial.was_tried) return trial.status.what();
  if (!trial.status.ok()) return std::string("failed: ") + trial.status.what();
  const std::string far = fmt::format("{:.0e} apart", trial.difference);
  if (!trial.passed()) return "WRONG, " + far;
  std::string text = trial.difference == 0 ? "the same bits" : far;
  if (!trial.is_recorded) return text;
  return text + (*trial.is_recorded ? "; recorded: yes"
                                    : "; recorded: no, because " + trial.why_not_recorded);
}

std::string time_of(const KernelTrial& trial, double milliseconds) {
  return trial.was_tried ? fmt::format("{:.3f}", milliseconds) : "";
}

std::optional<double> estimated_ms(const TrialPlace& place, const KernelTrial& trial) {
  if (!place.peaks) return std::nullopt;
  const auto estimate = estimate_operation(*place.peaks, trial.operation, trial.size);
  return estimate ? std::optional(1e3 * estimate->seconds) : std::nullopt;
}

}  // namespace

TrialPlace trial_place() {
  return {backend_in_use().device.has_value(), peaks_in_use(), missing_estimates()};
}

std::string trials_text(const KernelTrials& trials, const TrialPlace& place, bool colour) {
  Table table({{"operation"},
               {"shape"},
               {"against the CPU"},
               {"CPU ms", Align::right},
               {place.on_gpu ? "GPU ms" : "emulated ms", Align::right},
               {place.on_gpu ? "estimated ms" : "", Align::right}});
  for (const KernelTrial& trial : trials.trials) {
    const std::optional<double> estimate = estimated_ms(place, trial);
    table.add({trial.operation, trial.shape, agreement(trial), time_of(trial, trial.cpu_ms),
               time_of(trial, trial.device_ms), estimate ? fmt::format("{:.3f}", *estimate) : ""});
  }
  std::string text =
      place.on_gpu ? "\nEvery kernel on the GPU, by its own clock, against the CPU:\n\n"
                   : "\nThere is no GPU to try. The same kernels, run thread by thread by the "
                     "emulator on the CPU,\non small shapes; their times say nothing of a GPU:\n\n";
  text += table.text(colour) + place.missing_estimates;
  if (!trials.on_the_cpu.empty()) {
    text += fmt::format("Computed on the CPU: {}.\n", fmt::join(trials.on_the_cpu, ", "));
  }
  return text;
}

nlohmann::ordered_json trials_json(const KernelTrials& trials, const TrialPlace& place) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const KernelTrial& trial : trials.trials) {
    rows.push_back({{"operation", trial.operation},
                    {"shape", trial.shape},
                    {"whole_numbers", trial.whole_numbers},
                    {"difference", trial.difference},
                    {"tolerance", trial.tolerance},
                    {"tried", trial.was_tried},
                    {"passed", trial.passed()},
                    {"error", trial.status.ok() ? "" : trial.status.what()},
                    {"cpu_ms", trial.cpu_ms},
                    {"device_ms", trial.device_ms}});
    if (trial.is_recorded) rows.back()["recorded"] = *trial.is_recorded;
    if (!trial.why_not_recorded.empty()) rows.back()["why_not_recorded"] = trial.why_not_recorded;
    if (const auto estimate = estimated_ms(place, trial)) rows.back()["estimated_ms"] = *estimate;
  }
  return rows;
}

std::vector<Finding> trial_findings(const KernelTrials& trials) {
  std::vector<Finding> found;
  if (!trials.lost.ok()) {
    found.push_back(
        {"kernels", Finding::Verdict::failure,
         fmt::format("the GPU was lost at {}; {} not tried. {}", trials.lost_at,
                     plural(trials.not_tried(), "kernel behind it was", "kernels behind it were"),
                     trials.lost.what()),
         Code::device_failure});
  }
  const auto silent = std::ranges::find_if(
      trials.trials, [](const KernelTrial& one) { return !one.is_recorded.value_or(true); });
  if (silent != trials.trials.end()) {
    found.push_back({"recording", Finding::Verdict::warning,
                     fmt::format("the GPU does not record a frame to repeat it, because {}. Its "
                                 "answers are the same and take longer",
                                 silent->why_not_recorded),
                     Code::ok});
  }
  return found;
}

}  // namespace engram
