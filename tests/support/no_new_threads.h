// A system that makes no threads, for as long as the object lives.
#pragma once

#include <pthread.h>

#include <cstddef>

#include "platform/status.h"

namespace engram::test {

// The stack of a new thread would not fit the address space, so pthread_create fails.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_attr_t impossible;
    ENGRAM_CHECK(pthread_getattr_default_np(&before_) == 0);
    ENGRAM_CHECK(pthread_attr_init(&impossible) == 0);
    ENGRAM_CHECK(pthread_attr_setstacksize(&impossible, std::size_t{1} << 60) == 0);
    ENGRAM_CHECK(pthread_setattr_default_np(&impossible) == 0);
    pthread_attr_destroy(&impossible);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;
  ~NoNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

}  // namespace engram::test
