// The endless story of crash_test.cpp: of ten events, six are batches, two ends of a task, one undoes
// the batch before it, and one gives a class another name; now and then the journal is compacted.
#pragma once

#include "tests/support/small_store.h"

namespace engram::test {

inline bool ends_task(std::int64_t number) {
  return number % 5 == 0;
}

inline bool undoes(std::int64_t number) {
  return number % 10 == 8;
}
inline bool renames(std::int64_t number) {
  return number % 10 == 9;
}
// The last event up to `number` that left a new readout.
inline std::int64_t last_readout(std::int64_t number) {
  while (!ends_task(number) && !undoes(number) && !renames(number)) --number;
  return number;
}

inline Status apply_event(Store& store, std::int64_t number) {
  if (ends_task(number)) {
    ENGRAM_TRY(store.end_task().status());
  } else if (undoes(number)) {
    ENGRAM_TRY(store.undo().status());
  } else if (renames(number)) {
    ENGRAM_TRY(store.rename("red", "crimson").status());
  } else {
    ENGRAM_TRY(store.learn(small_batch(number)));
  }
  // Never just before an undo: sums alone, without the journal, could not take back anything.
  return number % 13 == 0 && !undoes(number + 1) ? store.compact() : Status();
}

}  // namespace engram::test
