// A lock for turns on a device: whoever has it may take it again, and those who wait get it in the
// order in which they came.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "platform/status.h"

namespace engram {

class TurnLock {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (owner_ != std::this_thread::get_id()) wait_for_turn(guard);
    ++depth_;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    ENGRAM_CHECK(owner_ == std::this_thread::get_id() && depth_ > 0);
    if (--depth_ == 0) pass_on();
  }
  // If the caller has the lock, those who wait now have it first.
  void let_others() {
    std::unique_lock guard(mutex_);
    if (owner_ != std::this_thread::get_id() || next_ == serving_ + 1) return;
    const int depth = depth_;
    depth_ = 0;
    pass_on();
    wait_for_turn(guard);
    depth_ = depth;
  }

 private:
  void wait_for_turn(std::unique_lock<std::mutex>& guard) {
    const std::uint64_t mine = next_++;
    passed_on_.wait(guard, [&] { return serving_ == mine; });
    owner_ = std::this_thread::get_id();
  }
  void pass_on() {
    owner_ = {};
    ++serving_;
    passed_on_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable passed_on_;
  std::uint64_t next_ = 0, serving_ = 0;  // tickets
  std::thread::id owner_;
  int depth_ = 0;
};

}  // namespace engram
