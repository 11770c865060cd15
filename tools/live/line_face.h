// The camera app without a terminal: a line for every change of what is seen, events on stderr.
#pragma once

#include "platform/status.h"
#include "tools/console/console.h"
#include "tools/live/live.h"
#include "tools/live/stop_signals.h"

namespace engram {

// Prints events that it has not printed yet: failures as warnings.
class EventLog {
 public:
  void tell(const LiveState& state, const Console& console);

 private:
  std::uint64_t told_ = 0;
};

// Until `stop` says so, or the source has ended and its last frame was looked at. With --json one
// object per change.
void run_line_face(Live& live, const StopSignals& stop, const Console& console);
// Only events, until `stop` says so.
void run_headless(Live& live, const StopSignals& stop, const Console& console);

}  // namespace engram
