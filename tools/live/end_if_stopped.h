// Work that nothing can interrupt, such as a solve that takes minutes: who is asked to stop meanwhile
// ends at once, with a last word. For work that leaves the disk as it was until it is done.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "platform/descriptor.h"
#include "tools/live/stop_signals.h"

namespace engram {

class EndIfStopped {
 public:
  // While it lives, `end` is called once a signal came, by a thread of its own; it does not return. A
  // machine that has no thread to give runs the work to its end: ask `signals` then.
  EndIfStopped(const StopSignals& signals, std::function<void()> end);
  ~EndIfStopped() { work_is_done(); }
  EndIfStopped(const EndIfStopped&) = delete;
  EndIfStopped& operator=(const EndIfStopped&) = delete;

  // Behind this `end` is not called any more; a program that is ending already does not come back.
  void work_is_done();

 private:
  void watch();

  const StopSignals& signals_;
  std::function<void()> end_;
  Descriptor done_;                   // readable once the work is done
  std::atomic<bool> decided_{false};  // by who comes first: the signal, or the end of the work
  std::thread watcher_;
};

}  // namespace engram
