#include "tools/live/service_pulse.h"

#include <fmt/format.h>

#include "tools/console/units.h"
#include "tools/engine_words.h"

namespace engram {

namespace {

std::string camera_words(const FeedState& feed) {
  switch (feed.kind) {
    case FeedState::Kind::opening:
      return "opening the camera";
    case FeedState::Kind::live:
      return "live";
    case FeedState::Kind::lost:
      return "camera lost: " + feed.why;
    case FeedState::Kind::ended:
      return "the source has ended";
  }
  return "";
}

}  // namespace

std::string service_status(const LiveState& state) {
  std::string text = state.fault.empty() ? "" : state.fault + "; ";
  text += camera_words(state.feed);
  if (state.paused) text += ", paused";
  if (state.throttled) text += ", hot: half the rate";
  text += fmt::format(", {}, {}", plural(std::ssize(state.classes), "class", "classes"),
                      plural(state.samples, "sample", "samples"));
  const std::string engine = engine_words(state.engine);
  return engine.empty() ? text : text + "; " + engine;
}

ServicePulse service_pulse(const Live& live) {
  const LiveState state = live.state();
  const bool waits_for_camera =
      state.feed.kind == FeedState::Kind::lost || state.feed.kind == FeedState::Kind::ended;
  const Heartbeats beats = live.heartbeats();
  return {.look = beats.look,
          .teach = beats.teach,
          .answers = live.sight() != nullptr || waits_for_camera,
          .status = service_status(state)};
}

}  // namespace engram
