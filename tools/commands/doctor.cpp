#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include <sys/stat.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/memory_plan.h"
#include "engine/store.h"
#include "engine/store_load.h"
#include "kernels/backend.h"
#include "kernels/kernels_simt.h"
#include "platform/version.h"
#include "tools/backend_report.h"
#include "tools/commands/commands.h"
#include "tools/doctor.h"
#include "tools/estimate_report.h"
#include "tools/exit_code.h"
#include "tools/kernel_trials.h"
#include "tools/table.h"
#include "tools/terminal.h"
#include "tools/units.h"

namespace engram {
namespace {

using Verdict = Finding::Verdict;

Finding backend_finding() {
  const Backend& backend = backend_in_use();
  if (backend.device) return {"GPU", Verdict::fine, device_text(*backend.device), Code::ok};
  return {"GPU", Verdict::remark,
          backend.why_cpu.empty() ? "not asked for: --backend cpu" : backend.why_cpu, Code::ok};
}

std::int64_t program_written() {
  struct stat program {};
  return stat("/proc/self/exe", &program) == 0 ? std::int64_t(program.st_mtime) : 0;
}

// The learner of the state that is there, or the one that `learn` would make.
Finding learner_memory(const Session& session, std::int64_t& planned) {
  const std::string& state = session.global.state;
  LearnerConfig config;
  int classes = 100;
  std::string what = "a new learner";
  if (Store::exists(state)) {
    const auto loaded = load_store(StorePaths(state), LoadCheck::none);
    if (!loaded.ok()) {
      return {"memory", Verdict::failure, loaded.status().what(), loaded.status().code()};
    }
    config = loaded.value().learner.config();
    classes = std::max(classes, int(loaded.value().learner.classes().size()));
    what = "the learner in " + printable(state);
  } else if (config.features == 0) {
    config.features = 1280;
  }
  planned = plan(config, classes).total();
  return memory_finding(what, config, classes, backend_in_use().device);
}

std::vector<Finding> findings(const Session& session) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  std::vector<Finding> all{machine_finding(""), processor_finding(""), backend_finding(),
                           tensorrt_finding(), power_finding("")};
  std::int64_t planned = 0;
  all.push_back(learner_memory(session, planned));
  all.push_back(camera_finding(""));
  const auto storage = storage_facts(session.global.home, "");
  all.push_back(storage.ok() ? storage_finding(storage.value(), planned)
                             : Finding{"storage", Verdict::failure, storage.status().what(),
                                       storage.status().code()});
  all.push_back(clock_finding(now.count(), program_written()));
  return all;
}

std::string agreement(const KernelTrial& trial) {
  if (!trial.status.ok()) return std::string("failed: ") + trial.status.what();
  const std::string far = fmt::format("{:.0e} apart", trial.difference);
  if (!trial.passed()) return "WRONG, " + far;
  return trial.difference == 0 ? "the same bits" : far;
}

std::string words(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::optional<double> estimated_ms(const std::optional<DevicePeaks>& device,
                                   const KernelTrial& trial) {
  if (!device) return std::nullopt;
  const auto seconds = estimated_call_seconds(*device, trial.operation, trial.size);
  return seconds ? std::optional(1e3 * *seconds) : std::nullopt;
}

nlohmann::ordered_json json_of(const KernelTrials& trials) {
  const std::optional<DevicePeaks> device = peaks_in_use();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const KernelTrial& trial : trials.trials) {
    rows.push_back({{"operation", trial.operation},
                    {"shape", trial.shape},
                    {"whole_numbers", trial.whole_numbers},
                    {"difference", trial.difference},
                    {"tolerance", trial.tolerance},
                    {"passed", trial.passed()},
                    {"error", trial.status.ok() ? "" : trial.status.what()},
                    {"cpu_ms", trial.cpu_ms},
                    {"device_ms", trial.device_ms}});
    if (const auto estimate = estimated_ms(device, trial)) rows.back()["estimated_ms"] = *estimate;
  }
  return rows;
}

void show(const Console& console, const KernelTrials& trials, bool on_gpu) {
  console.answer(
      on_gpu ? "\nEvery kernel on the GPU against the CPU:\n\n"
             : "\nThere is no GPU to try. The same kernels, run thread by thread by the "
               "emulator on the CPU,\non small shapes; their times say nothing of a GPU:\n\n");
  Table table({{"operation"},
               {"shape"},
               {"against the CPU"},
               {"CPU ms", Align::right},
               {on_gpu ? "GPU ms" : "emulated ms", Align::right},
               {on_gpu ? "estimated ms" : "", Align::right}});
  const std::optional<DevicePeaks> device = peaks_in_use();
  for (const KernelTrial& trial : trials.trials) {
    const std::optional<double> estimate = estimated_ms(device, trial);
    table.add({trial.operation, trial.shape, agreement(trial), fmt::format("{:.3f}", trial.cpu_ms),
               fmt::format("{:.3f}", trial.device_ms),
               estimate ? fmt::format("{:.3f}", *estimate) : ""});
  }
  console.answer(table.text(console.colour()) + missing_estimates());
  if (!trials.on_the_cpu.empty()) {
    console.answer("Computed on the CPU: " + words(trials.on_the_cpu) + ".\n");
  }
}

Result<int> run_doctor(const Session& session) {
  const Console& console = session.console;
  const std::vector<Finding> found = findings(session);
  console.answer(fmt::format("engram {}\n\n", version()));
  nlohmann::ordered_json report = nlohmann::ordered_json::array();
  Code worst = Code::ok;
  for (const Finding& finding : found) {
    const Style style = finding.verdict == Verdict::failure   ? Style::red
                        : finding.verdict == Verdict::warning ? Style::yellow
                                                              : Style::plain;
    console.answer(paint(pad(name(finding.verdict), 9), style, console.colour()) +
                   pad(finding.topic, 11) + finding.text + "\n");
    report.push_back(
        {{"topic", finding.topic}, {"verdict", name(finding.verdict)}, {"text", finding.text}});
    if (finding.verdict == Verdict::failure && worst == Code::ok) worst = finding.code;
  }

  const bool on_gpu = backend_in_use().device.has_value();
  const KernelTrials trials = try_kernels(on_gpu ? chosen_kernels() : kSimtKernels,
                                          on_gpu ? TrialSize::device : TrialSize::emulator);
  show(console, trials, on_gpu);
  if (trials.failures() > 0) worst = Code::device_failure;
  const bool passed = worst == Code::ok;
  console.answer(fmt::format(
      "\n{}\n", passed ? "All is well."
                       : "Something is wrong: see the lines with FAILURE, failed or WRONG. This "
                         "report, with --json too, is what to send when you ask for help."));
  console.object({{"version", version()},
                  {"passed", passed},
                  {"backend", backend_json()},
                  {"kernels_ran_on", on_gpu ? "gpu" : "emulator"},
                  {"findings", report},
                  {"kernels", json_of(trials)},
                  {"on_the_cpu", trials.on_the_cpu}});
  if (!passed)
    console.warn(
        fmt::format("{} of the kernels and some of the findings above failed.", trials.failures()));
  return passed ? 0 : exit_code(worst);
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  const Manual manual{
      .name = "doctor",
      .summary = "is this machine fit, and does its GPU compute what the CPU does",
      .synopsis = "engram doctor [--backend NAME] [--json]",
      .description =
          "Looks at the machine, GPU, driver, TensorRT, power, memory against the plan of the "
          "learner (that of --state, or a new one), cameras, storage and clock; then runs every "
          "kernel of the GPU against the CPU, and a frame as one recorded piece of work, and "
          "compares: bit for bit where the arithmetic is whole numbers. Without a GPU the same "
          "kernels run on small shapes in an emulator. Changes "
          "nothing. One report to send when you ask for help; the exit code is 0 when all is well.",
      .example = "engram doctor --json > report.json"};
  add_command(app, session, manual, [&session] { return run_doctor(session); });
}

}  // namespace engram
