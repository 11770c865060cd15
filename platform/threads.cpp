#include "platform/threads.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include <sched.h>

#include "platform/blas.h"
#include "platform/status.h"
#include "platform/thread_pool.h"

namespace engram {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::mutex pool_change;
std::unique_ptr<Pool> pool_owner;  // guarded by pool_change; joins its threads at exit
std::atomic<Pool*> pool{nullptr};

thread_local bool works_alone = false;

// Before anybody computes; threads.h says why. Not around our own calls alone: the count is one number of
// the process, so of two threads that set it and put it back one would compute with the other's, and a
// program's own thread that multiplies meanwhile would see it change.
[[maybe_unused]] const bool one_blas_thread = (openblas_set_num_threads(1), true);

void replace_pool(int threads) {
  pool.store(nullptr);
  pool_owner.reset();
  pool_owner = std::make_unique<Pool>(threads);
  pool.store(pool_owner.get());
}

Pool& current_pool() {
  if (Pool* existing = pool.load(std::memory_order_acquire)) return *existing;
  const std::lock_guard lock(pool_change);
  if (!pool.load()) replace_pool(usable_cores());
  return *pool.load();
}

}  // namespace

void set_thread_count(int count) {
  ENGRAM_CHECK(count >= 0);
  const int threads = count == 0 ? usable_cores() : count;
  const std::lock_guard lock(pool_change);
  if (pool_owner && pool_owner->threads() == threads) return;
  replace_pool(threads);
}

int thread_count() {
  return current_pool().threads();
}

void parallel_for(int count, int grain, RangeBody body) {
  ENGRAM_CHECK(grain > 0);
  if (count <= 0) return;
  if (count > grain && !works_alone) {
    Pool& threads = current_pool();
    Job job{.body = body, .count = count, .grain = grain};
    if (threads.threads() > 1 && threads.run(job)) return;
  }
  body(0, count);
}

OneThread::OneThread() : before_(works_alone) {
  works_alone = true;
}
OneThread::~OneThread() {
  works_alone = before_;
}

}  // namespace engram
