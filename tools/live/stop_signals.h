// A program that is asked to end (Ctrl-C, kill, a closed terminal) ends in order: what waits is told.
#pragma once

#include <atomic>
#include <chrono>

#include "platform/status.h"

namespace engram {

// While one lives, SIGINT, SIGTERM and SIGHUP do not end the program. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool stopped() const;
  const std::atomic<bool>& flag() const;                // the same, for ChildRequest::stop
  int file() const;                                     // readable once it was asked; for poll()
  bool wait(std::chrono::milliseconds patience) const;  // true: stopped
};

}  // namespace engram
