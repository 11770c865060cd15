#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/store.h"
#include "tools/commands/commands.h"
#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/console/units.h"
#include "tools/exit_code.h"

namespace engram {
namespace {

Result<int> run_verify(const Session& session) {
  const std::string& state = session.global.state;
  if (!Store::exists(state)) return no_state(state);
  const Console& console = session.console;
  Progress progress(console.shows_progress(), "verify");
  ENGRAM_ASSIGN(const VerifyReport report, verify_store(state));
  progress.finish();

  for (const std::string& finding : report.findings) console.warn(finding);
  if (report.ok) {
    console.answer(fmt::format("{}  {}: {}, every byte checked in {}\ndigest  {}\n",
                               paint("ok", Style::green, console.colour()), printable(state),
                               plural(report.samples, "sample", "samples"),
                               duration_text(progress.seconds()), report.digest));
  } else {
    console.answer(fmt::format("{}  {}: see above. Nothing was changed.\n",
                               paint("damaged", Style::red, console.colour()), printable(state)));
  }
  console.object({{"state", state},
                  {"ok", report.ok},
                  {"findings", report.findings},
                  {"samples", report.samples},
                  {"sequence", report.sequence},
                  {"digest", report.digest}});
  return report.ok ? 0 : exit_code(Code::bad_data);
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  const Manual manual{
      .name = "verify",
      .summary = "check every byte of a state",
      .synopsis = "engram verify [--state DIR]",
      .description =
          "Reads snapshot, journal and readout, checks all checksums, replays what was "
          "learned and compares. Changes nothing. Exit code 0: all is well; 65: "
          "something is damaged, and what that means; 69: a newer version of Engram wrote it; 74: "
          "it could not be read, so nothing is known.",
      .example =
          "$ engram verify\n"
          "ok  desk: 96 samples, every byte checked in 0.21 s"};
  add_command(app, session, manual, [&session] { return run_verify(session); });
}

}  // namespace engram
