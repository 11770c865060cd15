#include "tools/live/line_face.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "tools/console/terminal.h"
#include "tools/live/verdict.h"

namespace engram {
namespace {

constexpr std::chrono::milliseconds kFacePatience{100};

}  // namespace

void EventLog::tell(const LiveState& state, const Console& console) {
  for (const LiveEvent& event : state.events) {
    if (event.number <= told_) continue;
    told_ = event.number;
    const std::string line = event.kind + ": " + printable(event.text);
    if (event.failed) {
      console.warn(line);
    } else {
      console.log(line);
    }
  }
}

void run_line_face(Live& live, const StopSignals& stop, const Console& console) {
  EventLog log;
  std::uint64_t after = 0, changes = 0;
  std::optional<Verdict> before;
  while (!stop.stopped()) {
    const bool has_ended = live.state().feed.kind == FeedState::Kind::ended;
    const auto sight = live.wait(after, kFacePatience);
    if (const std::uint64_t now = live.changes(); now != changes) {
      changes = now;
      log.tell(live.state(), console);
    }
    if (sight == nullptr) {
      if (has_ended) return;
      continue;
    }
    after = sight->frame.number;
    const Verdict said = verdict(*sight);
    if (before && before->kind == said.kind && before->label == said.label) continue;
    before = said;
    console.answer(verdict_text(said).empty() ? "nothing is learned yet\n"
                                              : verdict_text(said) + "\n");
    console.object(verdict_json(*sight));
  }
}

void run_headless(Live& live, const StopSignals& stop, const Console& console) {
  EventLog log;
  do {
    log.tell(live.state(), console);
  } while (!stop.wait(kFacePatience));
}

}  // namespace engram
