#include "tools/live/live_state.h"

#include <nlohmann/json.hpp>

#include "tools/engine_words.h"

namespace engram {
namespace {

using Json = nlohmann::ordered_json;

Json feed_json(const FeedState& feed) {
  return {{"kind", name(feed.kind)},
          {"why", feed.why},
          {"frames", feed.frames},
          {"reopened", feed.reopened},
          {"frames_per_second", feed.frames_per_second}};
}

Json engine_json(const EngineState& engine) {
  return {{"kind", name(engine.kind)},
          {"fraction", engine.fraction},
          {"seconds_left", engine.seconds_left},
          {"device", engine.device},
          {"words", engine_words(engine)}};
}

Json class_json(const LiveClass& taught) {
  return {{"label", taught.label},
          {"samples", taught.samples},
          {"judged", taught.judged},
          {"right", taught.right},
          {"too_few", taught.too_few}};
}

Json event_json(const LiveEvent& event) {
  return {{"number", event.number},
          {"kind", event.kind},
          {"text", event.text},
          {"failed", event.failed}};
}

template <class Items, class ToJson>
Json list_of(const Items& items, ToJson to_json) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

const char* name(FeedState::Kind kind) {
  switch (kind) {
    case FeedState::Kind::opening:
      return "opening";
    case FeedState::Kind::live:
      return "live";
    case FeedState::Kind::lost:
      return "lost";
    case FeedState::Kind::ended:
      return "ended";
  }
  return "lost";
}

Json to_json(const LiveState& state) {
  return {{"model", state.model},
          {"source", state.source},
          {"directory", state.directory},
          {"feed", feed_json(state.feed)},
          {"engine", engine_json(state.engine)},
          {"cpu_because", state.cpu_because},
          {"paused", state.paused},
          {"mirror", state.mirror},
          {"region", state.region},
          {"classes", list_of(state.classes, class_json)},
          {"hints", state.hints},
          {"events", list_of(state.events, event_json)},
          {"samples", state.samples},
          {"open_samples", state.open_samples},
          {"tasks", state.tasks},
          {"revision", state.revision},
          {"says_unknown", state.says_unknown},
          {"sequence", state.sequence},
          {"opening", state.opening},
          {"learning", state.learning},
          {"lambda", state.lambda},
          {"accuracy", state.accuracy},
          {"form", state.form},
          {"digest", state.digest},
          {"fault", state.fault},
          {"backbone_ms", state.backbone_ms},
          {"head_ms", state.head_ms},
          {"looks_per_second", state.looks_per_second},
          {"resident_bytes", state.resident_bytes},
          {"planned_bytes", state.planned_bytes},
          {"temperature", state.temperature},
          {"throttled", state.throttled},
          {"slowed_by", state.slowed_by},
          {"power_mode", state.power_mode},
          {"accuracy_history", state.accuracy_history},
          {"memory_history", state.memory_history}};
}

}  // namespace engram
