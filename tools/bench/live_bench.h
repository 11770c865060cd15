// `engram bench live`: the camera app on the stage, as its users would meet it.
//
// Objects are learned one at a time by taps on a live session; after each one, new views of all objects
// so far are asked of the state on disk. Then the same session looks on, in turn idle, while every frame is
// taught, and while taps follow each other without a pause: learning must not stall the picture.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/recogniser.h"
#include "platform/camera_stage.h"
#include "platform/status.h"
#include "tools/evaluate/confusion_svg.h"

namespace engram {

inline StageOptions twenty_objects() {
  StageOptions stage;
  stage.objects = 20;
  return stage;
}

struct LiveBenchOptions {
  Recogniser::Options recogniser;  // of a new state
  StageOptions stage = twenty_objects();
  int taps = 8;                   // of each object
  int views = 10;                 // new ones of each object
  double seconds = 30;            // of looking, two thirds of them while it learns
  double frames_per_second = 30;  // of the virtual camera
};

// In milliseconds.
struct Spread {
  double middle = 0, p99 = 0, most = 0;
  int count = 0;
};
Spread spread_of(std::vector<double> values);

struct LiveBenchRound {
  std::string object;
  int right = 0, asked = 0;  // of all new views of all objects so far
};

struct LiveBenchResult {
  Spread durable, known;          // from a tap
  Spread label;                   // from a frame to its label
  Spread idle;                    // backbone and head of a frame
  Spread learning;                // the same while every frame is taught, as by a key held down
  Spread hurried;                 // the same while programs tap as fast as taps are carried out
  double frames_per_second = 0;   // looked at, idle
  double learned_per_second = 0;  // taps, while every frame is taught
  double hurried_per_second = 0;  // taps, as fast as they are carried out
  std::vector<LiveBenchRound> rounds;
  Confusion confusion;  // in the end
  double ratio(const Spread& busy) const { return idle.p99 > 0 ? busy.p99 / idle.p99 : 0; }
};

// The marks: at most 2 s from a tap to known, at least 15 frames per second, p99 while every frame is
// taught at most 1.2 times that of idle.
struct LiveBenchMark {
  std::string what, reached, wanted;
  bool passed = false;
};
std::vector<LiveBenchMark> live_marks(const LiveBenchResult& result);

Result<LiveBenchResult> bench_live(const LiveBenchOptions& options,
                                   const std::function<void(const LiveBenchRound&)>& on_round);
std::string live_bench_text(const LiveBenchResult& result);
nlohmann::ordered_json live_bench_json(const LiveBenchResult& result);

}  // namespace engram
