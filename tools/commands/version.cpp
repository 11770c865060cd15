#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "platform/version.h"
#include "tools/commands/commands.h"

namespace engram {

void add_version(CLI::App& app, Session& session) {
  const Manual manual{.name = "version",
                      .summary = "print the version",
                      .synopsis = "engram version [--json]",
                      .description = "Prints the version of the program.",
                      .example = fmt::format("$ engram version\nengram {}", version())};
  add_command(app, session, manual, [&session]() -> Result<int> {
    session.console.answer(fmt::format("engram {}\n", version()));
    session.console.object({{"version", version()}});
    return 0;
  });
}

}  // namespace engram
