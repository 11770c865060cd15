#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/state_file.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"

namespace engram {
namespace {

struct ImportOptions {
  std::string file, device;
};

Result<int> run_import(const Session& session, const ImportOptions& options) {
  const std::string& state = session.global.state;
  const Console& console = session.console;
  Progress progress(console.shows_progress(), "import");
  ENGRAM_TRY(import_state(options.file, state, options.device));
  ENGRAM_ASSIGN(const std::vector<AuditEntry> trail, audit_of_file(options.file));
  progress.finish();
  const AuditEntry& entry = trail.back();
  console.note(fmt::format("imported: {} of {} into {} ({}, {})\ndigest  {}\n",
                           printable(options.file), printable(entry.device), printable(state),
                           plural(entry.classes, "class", "classes"),
                           plural(entry.samples, "sample", "samples"), entry.digest));
  console.object({{"state", state},
                  {"file", options.file},
                  {"from", entry.device},
                  {"samples", entry.samples},
                  {"classes", entry.classes},
                  {"digest", entry.digest}});
  return 0;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ImportOptions>();
  const Manual manual{
      .name = "import",
      .summary = "a new state from an exported file",
      .synopsis = "engram import FILE [--state DIR] [--device NAME]",
      .description =
          "Makes a state of what `engram export` wrote, here or on another device: the same "
          "classes, "
          "samples, ids, steps to undo and answers, to the bit. Every byte of the file is checked "
          "first; a file that is damaged, cut short or of a newer version is refused, and nothing "
          "is "
          "made. So it is if there is a state already: `engram merge` makes one from both.\n\n"
          "The new state goes its own way. Since it began with the samples of the exported one, "
          "the "
          "two are never merged again: those samples would count twice.",
      .example =
          "$ engram import kitchen.engram --state house\n"
          "imported: kitchen.engram of kitchen into house (5 classes, 61 samples)\n"
          "digest  3-5c7d41..."};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_import(session, *options); });
  command->add_option("FILE", options->file, "A file of `engram export`")->required();
  command->add_option("--device", options->device, "Who imports it (default: this host's name)")
      ->type_name("NAME");
}

}  // namespace engram
