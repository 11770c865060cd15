#include "platform/turn_lock.h"

#include <atomic>
#include <vector>

#include "tests/support/catch.h"

namespace engram {

TEST_CASE("turn_lock: whoever has it may take it again", "[platform][threads]") {
  TurnLock lock;
  int inside = 0;
  bool alone = true;
  const auto work = [&] {
    for (int i = 0; i < 2000; ++i) {
      lock.lock();
      lock.lock();
      lock.unlock();
      alone = alone && ++inside == 1;
      --inside;
      lock.unlock();
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  CHECK(alone);
}

TEST_CASE("turn_lock: those who wait have it between two steps of long work",
          "[platform][threads]") {
  TurnLock lock;
  lock.let_others();  // it is not ours: nothing happens
  lock.lock();
  lock.let_others();  // nobody waits
  lock.lock();
  std::atomic<int> had{0};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] {
      lock.lock();
      ++had;
      lock.unlock();
    });
  }
  while (had < 3) {  // each at the latest when it has come to wait
    lock.let_others();
    std::this_thread::yield();
  }
  lock.unlock();
  lock.unlock();  // the same depth as before
  for (std::thread& other : others) other.join();
  CHECK(had == 3);
}

}  // namespace engram
