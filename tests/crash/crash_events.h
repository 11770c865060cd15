// The endless story of crash_test.cpp: event n is a batch, or for every fifth n the end of a task;
// after every 13th the journal is compacted.
#pragma once

#include "tests/support/small_store.h"

namespace engram::test {

inline bool ends_task(std::int64_t number) {
  return number % 5 == 0;
}

inline Status apply_event(Store& store, std::int64_t number) {
  if (ends_task(number)) {
    ENGRAM_TRY(store.end_task().status());
  } else {
    ENGRAM_TRY(store.learn(small_batch(number)));
  }
  return number % 13 == 0 ? store.compact() : Status();
}

}  // namespace engram::test
