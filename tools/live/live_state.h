// What the camera app knows about itself: for the terminal, the page and /metrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/camera_feed.h"
#include "platform/engine_state.h"

namespace engram {

// A class of this name is what the camera sees while nothing is shown. It is learned as any other; faces
// say "nothing" for it.
inline constexpr const char* kBackground = "background";

struct LiveClass {
  std::string label;
  std::int64_t samples = 0;
  int judged = 0, right = 0;  // leave-one-out of the last end of a task; judged 0: not judged
  bool too_few = false;
};

struct LiveEvent {  // of the timeline, newest last
  std::uint64_t number = 0;
  // An Order's, or "camera", "task", "fault", "heat", "power", "state", "view", "engine", "gpu".
  std::string kind;
  std::string text;  // a sentence
  bool failed = false;
};

struct LiveState {
  std::string model, source, directory;
  FeedState feed;
  EngineState engine;       // of the GPU
  std::string cpu_because;  // empty, or why the CPU computes although there is a GPU, or was
  bool paused = false, mirror = false;
  int region[4] = {0, 0, 1000, 1000};  // left, top, width, height
  std::vector<LiveClass> classes;      // in the order first seen
  std::vector<std::string> hints;      // "keys and phone look alike: show keys 2 more times"
  std::vector<LiveEvent> events;       // the last 50
  std::int64_t samples = 0, open_samples = 0;  // learned; of the task that has not ended
  int tasks = 0;
  std::uint64_t revision = 0;  // of the readout
  bool says_unknown = false;   // the readout can; else everything gets the nearest label
  std::int64_t sequence = 0;   // of the last durable event
  bool opening = false;   // what was learned is being read: counts are not known yet, orders wait
  bool learning = false;  // an order is under way or waits
  double lambda = 0;
  double accuracy = -1;  // leave-one-out over all classes; -1: not judged
  std::string form;      // factored, dense
  std::string digest;    // of the statistics; empty while they have changed since they were judged
  std::string fault;     // empty, or what is wrong with the storage: shown until it is mended
  double backbone_ms = 0, head_ms = 0, looks_per_second = 0;  // of the last seconds
  std::int64_t resident_bytes = 0, planned_bytes = 0;
  double temperature = -1;  // of the hottest zone in degrees Celsius; -1: not told
  bool throttled = false;   // we look less often, because the machine is hot or says so
  std::string slowed_by;    // then: "heat" or "power"
  std::string power_mode;   // of the machine, as nvpmodel names it; empty: not told
  std::vector<double> accuracy_history;      // at each end of a task, the last 200
  std::vector<std::int64_t> memory_history;  // resident bytes then
};

const char* name(FeedState::Kind kind);  // "live"
nlohmann::ordered_json to_json(const LiveState& state);

}  // namespace engram
