#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/store_merge.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output, device;
};

Result<int> run_merge(const Session& session, const MergeOptions& options) {
  const Console& console = session.console;
  Progress progress(console.shows_progress(), "merge");
  ENGRAM_ASSIGN(const MergeReport report,
                merge_stores(options.inputs, options.output, real_files(), options.device));
  progress.finish();
  for (const std::string& note : report.notes) console.warn(note);
  const char* form = report.form == Form::dense ? "dense" : "factored";
  console.note(fmt::format("merged: {} into {} ({}, {}, {}); lambda {:g} ({}), ready to classify\n",
                           plural(std::ssize(options.inputs), "state", "states"),
                           printable(options.output),
                           plural(std::ssize(report.classes), "class", "classes"),
                           plural(report.samples, "sample", "samples"), form, report.readout.lambda,
                           report.readout.rule));
  if (!report.readout.note.empty()) console.note(report.readout.note + "\n");
  nlohmann::ordered_json classes = nlohmann::ordered_json::object();
  for (const ClassInfo& info : report.classes) classes[info.label] = info.samples;
  console.object({{"state", options.output},
                  {"inputs", options.inputs},
                  {"classes", classes},
                  {"samples", report.samples},
                  {"form", form},
                  {"lambda", report.readout.lambda},
                  {"rule", report.readout.rule},
                  {"digest", report.digest},
                  {"notes", report.notes}});
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  const auto options = std::make_shared<MergeOptions>();
  const Manual manual{
      .name = "merge",
      .summary = "one state from what several learned",
      .synopsis = "engram merge STATE STATE... -o DIR [--device NAME]",
      .description =
          "Makes a new state that knows what all of the given ones know: folders of states, which "
          "are only read, also while other processes learn into them, and files of `engram "
          "export`, "
          "in any mix. Classes of the same name become one. Because "
          "sums of whole numbers add up exactly, the new state is, to the bit, that of one learner "
          "which saw all the pictures, in any order.\n\n"
          "The states must have the same backbone, projection and scales; each difference is "
          "named. "
          "A state is not merged with its own copy, or again with one that holds it already: its "
          "pictures would count twice. A power cut leaves the new state whole, or absent.",
      .example =
          "$ engram merge kitchen workshop -o house\n"
          "merged: 2 states into house (31 classes, 412 samples, factored); lambda 100 (loo), "
          "ready "
          "to classify\n"
          "$ engram merge kitchen.engram workshop.engram garage -o house\n"
          "$ engram classify --state house what.jpg"};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_merge(session, *options); });
  command
      ->add_option("STATE", options->inputs, "The states to merge, at least two: folders or files")
      ->required();
  command->add_option("-o,--output", options->output, "The state to make")
      ->type_name("DIR")
      ->required();
  command->add_option("--device", options->device, "Who merges them (default: this host's name)")
      ->type_name("NAME");
}

}  // namespace engram
