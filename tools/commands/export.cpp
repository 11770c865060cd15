#include <filesystem>
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

struct ExportOptions {
  std::string file, device;
  bool force = false;
};

Result<int> run_export(const Session& session, const ExportOptions& options) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  std::error_code error;
  const bool there = std::filesystem::is_regular_file(options.file, error) ||
                     std::filesystem::is_symlink(options.file, error);
  if (there && !options.force) {
    return Status(Code::invalid_argument,
                  fmt::format("{}: is there already. Nothing was written; --force replaces it.",
                              printable(options.file)));
  }
  const Console& console = session.console;
  Progress progress(console.shows_progress(), "export");
  ENGRAM_TRY(export_state(state, options.file, options.device));
  // Read back from the file, with all checksums: what is said here is in it.
  ENGRAM_ASSIGN(const std::vector<AuditEntry> trail, audit_of_file(options.file));
  progress.finish();
  const AuditEntry& entry = trail.back();
  const auto size = std::int64_t(std::filesystem::file_size(options.file, error));
  console.note(fmt::format("exported: {} to {} ({}, {}, {})\ndigest  {}\n", printable(state),
                           printable(options.file), plural(entry.classes, "class", "classes"),
                           plural(entry.samples, "sample", "samples"), bytes_text(error ? 0 : size),
                           entry.digest));
  console.object({{"state", state},
                  {"file", options.file},
                  {"device", entry.device},
                  {"sequence", entry.sequence},
                  {"samples", entry.samples},
                  {"classes", entry.classes},
                  {"bytes", error ? 0 : size},
                  {"digest", entry.digest}});
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExportOptions>();
  const Manual manual{
      .name = "export",
      .summary = "the whole state in one file, for another device",
      .synopsis = "engram export FILE [--device NAME] [--force]",
      .description =
          "Writes everything that was learned into one file, checksummed in every byte: carry it "
          "to "
          "another device, and `engram import` makes a state of it there, or `engram merge` adds "
          "it "
          "to what others learned. The state is only read, also while another process learns into "
          "it. The file is written beside and renamed: it is there whole, or not at all.\n\n"
          "It holds no pictures, but it holds class names and what the backbone saw in each "
          "picture "
          "(or, with --keep-features no, only sums of that): treat it as you would the pictures. "
          "It "
          "also says where it has been: which device made, exported, imported and merged it, with "
          "counts and digests; `engram history --audit FILE` lists that. No clock is asked; order "
          "is by the number of the event in each state.",
      .example =
          "$ engram export kitchen.engram --device kitchen\n"
          "exported: /home/me/.local/share/engram/state/default to kitchen.engram (5 classes, 61 "
          "samples, 96.4 kB)\n"
          "digest  3-5c7d41..."};
  CLI::App* command = add_command(app, session, manual,
                                  [&session, options] { return run_export(session, *options); });
  command->add_option("FILE", options->file, "The file to write, usually named *.engram")
      ->required();
  command->add_option("--device", options->device, "Who exports it (default: this host's name)")
      ->type_name("NAME");
  command->add_flag("--force", options->force, "Replace the file if there is one");
}

}  // namespace engram
