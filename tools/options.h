// Options that every command has, described in one place.
#pragma once

#include "tools/session.h"

namespace CLI {
class App;
}

namespace engram {

void add_global_options(CLI::App& app, GlobalOptions& options);
// Fills in what the user left out: --home, then --state (from $ENGRAM_STATE, else
// HOME/state/default).
void complete(GlobalOptions& options);

}  // namespace engram
