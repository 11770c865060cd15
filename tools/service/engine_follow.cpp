#include "tools/service/engine_follow.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tools/console/progress.h"
#include "tools/console/terminal.h"
#include "tools/engine_words.h"

namespace engram {
namespace {

constexpr int kSteps = 100;

// What the service says of itself; nothing while it cannot be asked or is being started again.
std::string told_by(const EngineFollow& follow) {
  const Result<ServiceState> state = follow.ask();
  return state.ok() && state->runs() ? state->status : "";
}

}  // namespace

bool EngineFollow::has_watcher() {
  return can_repaint(stderr);
}

std::string follow_engine(const Console& console, const EngineFollow& follow) {
  std::string said = told_by(follow);
  std::optional<EngineState> engine = coming_engine(said);
  if (!engine) return "";
  if (!follow.look_on || !console.shows_progress()) {
    return engine_words(*engine) + ". How far it is: engram service status";
  }
  console.note(
      "The service answers already, by the CPU, and builds the GPU's engine. Ctrl-C ends "
      "looking on, not building.\n");
  {
    Progress progress(console.shows_progress(), "engine", kSteps);
    int shown = 0;
    while (engine) {
      const int now = std::max(shown, static_cast<int>(engine->fraction * kSteps));
      progress.advance(now - std::exchange(shown, now));
      progress.tell(build_words(*engine));
      std::this_thread::sleep_for(follow.pause);
      said = told_by(follow);
      engine = coming_engine(said);
    }
  }
  return said.empty() ? "the service does not run any more: engram service status" : said;
}

}  // namespace engram
