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
#include "tools/console/terminal.h"
#include "tools/doctor/doctor.h"
#include "tools/doctor/kernel_trial_report.h"
#include "tools/doctor/kernel_trials.h"
#include "tools/exit_code.h"
#include "tools/machine_state.h"

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

// Printed as they come: the trials take a while, and what is known before them is not lost if the
// machine stops in the middle.
class Findings {
 public:
  explicit Findings(const Console& console) : console_(console) {}

  void tell(const Finding& finding) {
    const Style style = finding.verdict == Verdict::failure   ? Style::red
                        : finding.verdict == Verdict::warning ? Style::yellow
                                                              : Style::plain;
    console_.answer(paint(pad(name(finding.verdict), 9), style, console_.colour()) +
                    pad(finding.topic, 11) + finding.text + "\n");
    json_.push_back(
        {{"topic", finding.topic}, {"verdict", name(finding.verdict)}, {"text", finding.text}});
    if (finding.verdict == Verdict::failure && worst_ == Code::ok) worst_ = finding.code;
  }
  Code worst() const { return worst_; }
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  const Console& console_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::array();
  Code worst_ = Code::ok;
};

Result<int> run_doctor(const Session& session) {
  const Console& console = session.console;
  Findings found(console);
  const std::vector<Finding> of_machine = findings(session);
  console.answer(fmt::format("engram {}\n\n", version()));
  for (const Finding& finding : of_machine) found.tell(finding);

  const TrialPlace place = trial_place();
  const nlohmann::ordered_json backend = backend_json();
  const MachineState before = machine_state("");
  const KernelTrials trials = try_kernels(place.on_gpu ? chosen_kernels() : kSimtKernels,
                                          place.on_gpu ? TrialSize::device : TrialSize::emulator);
  const MachineState after = machine_state("");
  console.answer(trials_text(trials, place, console.colour()) + "\n");
  for (const Finding& finding : trial_findings(trials)) found.tell(finding);
  found.tell(speed_finding(before, after));

  const Code worst = trials.failures() > 0 ? Code::device_failure : found.worst();
  const bool passed = worst == Code::ok;
  console.answer(fmt::format(
      "\n{}\n", passed ? "All is well."
                       : "Something is wrong: see the lines with FAILURE, failed or WRONG. This "
                         "report, with --json too, is what to send when you ask for help."));
  console.object({{"version", version()},
                  {"passed", passed},
                  {"backend", backend},
                  {"kernels_ran_on", place.on_gpu ? "gpu" : "emulator"},
                  {"findings", found.json()},
                  {"machine_state", state_json(after)},
                  {"kernels", trials_json(trials, place)},
                  {"on_the_cpu", trials.on_the_cpu}});
  if (!passed) {
    console.warn(
        fmt::format("{} of the kernels failed, {} were not tried, and some of the findings above "
                    "may be failures.",
                    trials.failures() - trials.not_tried(), trials.not_tried()));
  }
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
          "kernels run on small shapes in an emulator. A GPU that is lost in the middle is told, "
          "and the report is whole. Changes nothing. One report to send when you ask for help; the "
          "exit code is 0 when all is well.",
      .example = "engram doctor --json > report.json"};
  add_command(app, session, manual, [&session] { return run_doctor(session); });
}

}  // namespace engram
