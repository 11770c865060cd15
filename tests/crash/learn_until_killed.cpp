// The victim of crash_test.cpp: opens the state given and changes it for ever, printing the number
// of each event once it is acknowledged. What event n is follows from n alone (crash_events.h), so
// that the test knows what must be there.
#include <unistd.h>

#include <cstdio>

#include "tests/crash/crash_events.h"

int main(int argc, char* argv[]) {
  if (argc != 2) return 64;
  auto store = engram::Store::open(argv[1]);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.status().what());
    return 1;
  }
  for (;;) {
    const std::int64_t number = store->sequence() + 1;
    if (const engram::Status status = engram::test::apply_event(*store, number); !status.ok()) {
      std::fprintf(stderr, "event %ld: %s\n", long(number), status.what());
      return 1;
    }
    // One write, so that the other side never sees half a number.
    const std::int64_t acknowledged = store->sequence();
    if (::write(1, &acknowledged, sizeof(acknowledged)) != sizeof(acknowledged)) return 1;
  }
}
