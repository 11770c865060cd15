// The demo's work without its words: objects on the stage, learned one at a time, and after each
// one a test on new views of all objects so far.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/recogniser.h"
#include "platform/camera_stage.h"
#include "platform/status.h"
#include "tools/pictures/contact_sheet.h"

namespace engram {

struct DemoShow {
  int frames = 8;  // learned of each object
  int views = 10;  // new ones of each object, never learned
};

struct DemoRound {
  std::string object;        // learned in this round
  double learn_seconds = 0;  // from frames in memory to durable on disk and ready to answer
  int right = 0;             // of all new views of all objects so far
  int asked = 0;
  int first_right = 0;  // of the new views of the first object
  double accuracy() const { return 100.0 * right / asked; }
};

struct DemoResult {
  std::vector<DemoRound> rounds;
  // Per object: its first learned frame, then a new view framed green or red by the final answer.
  std::vector<SheetCell> cells;
};

struct DemoWatcher {
  std::function<Status(const std::string& object)> on_object;  // before it is learned; or the end
  std::function<void(const DemoRound&)> on_round;              // when all were asked for
};
Result<DemoResult> run_demo_show(Recogniser& recogniser, const Stage& stage, const DemoShow& show,
                                 const DemoWatcher& watcher);

}  // namespace engram
