#include "tools/session.h"

#include <cstdlib>

#include "engine/model_store.h"
#include "tools/options.h"

namespace engram {

void complete(GlobalOptions& options) {
  if (options.home.empty()) options.home = default_home();
  if (!options.state.empty()) return;
  const char* state = std::getenv("ENGRAM_STATE");
  options.state = state && *state ? state : options.home + "/state/default";
}

}  // namespace engram
