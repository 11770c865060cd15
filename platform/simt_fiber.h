// A fiber: a thread of execution with a stack of its own that runs only when it is told to.
//
// The emulator (simt.h) runs each CUDA thread as one. A change of fiber costs a few nanoseconds:
// it saves what a function call must preserve and takes another stack. AddressSanitizer is told.
#pragma once

#include <cstddef>

namespace engram::simt {

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = 64 * 1024;

  // Will begin with `entry`, on this stack of kStackBytes, when it is first changed to. `entry`
  // must not return: it ends in a change for good.
  void start(char* stack, void (*entry)());
  // The fiber that the caller's own thread is, with the stack the system gave it.
  void adopt_caller();

  // Leaves `from`, the running fiber, and goes on where `to` stood. For good: nobody comes back.
  static void change(Fiber& from, Fiber& to, bool for_good = false);
  static void begin();  // the first thing that an entry calls

  const char* stack() const { return bottom_; }

 private:
  void* stack_pointer_ = nullptr;
  const char* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;  // AddressSanitizer's
};

}  // namespace engram::simt
