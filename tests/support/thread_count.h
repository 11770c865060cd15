// Runs with a thread count, then gives the program's own choice back.
#pragma once

#include "platform/threads.h"

namespace engram::test {

class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(thread_count()) { set_thread_count(count); }
  ~ThreadCount() { set_thread_count(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace engram::test
