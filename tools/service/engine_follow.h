// Shows how the service builds the GPU's engine, until it is over. The service builds; who looks on
// may go at any time.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tools/console/console.h"
#include "tools/service/service_control.h"

namespace engram {

struct EngineFollow {
  std::function<Result<ServiceState>()> ask = service_state;
  std::chrono::milliseconds pause{500};  // between two questions
  bool look_on = has_watcher();          // false: only how far it is now
  static bool has_watcher();             // stderr is a terminal
};

// A bar, until the engine is there or given up; it does not wait where nobody looks on. Returns a line for
// people: what became of it, or how far it is; empty where there is nothing to build.
std::string follow_engine(const Console& console, const EngineFollow& follow = {});

}  // namespace engram
