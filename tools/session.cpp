#include "tools/session.h"

#include <cstdlib>

#include <fmt/format.h>

#include "engine/model_store.h"
#include "tools/console/terminal.h"

namespace engram {

void complete(GlobalOptions& options) {
  if (options.home.empty()) options.home = default_home();
  if (!options.state.empty()) return;
  const char* state = std::getenv("ENGRAM_STATE");
  if (state && *state) options.state = state;
  if (options.state.empty() && !options.home.empty())
    options.state = options.home + "/state/default";
}

Status no_state(const std::string& directory) {
  return Status(
      Code::not_found,
      fmt::format("{}: there is no state here. Make one with: engram learn LABEL FILES..., "
                  "or name another with --state DIR.",
                  printable(directory)));
}

}  // namespace engram
