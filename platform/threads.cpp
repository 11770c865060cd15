#include "platform/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

#include "platform/blas.h"
#include "platform/status.h"

namespace engram {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// One piece of work, on the caller's stack. Threads take ranges from `next` until none is left.
struct Job {
  RangeBody body;
  int count;
  int grain;
  std::atomic<int> next{0};  // counts ranges, not elements: it cannot overflow past `count`

  void run() {
    const int ranges = (count - 1) / grain + 1;
    for (;;) {
      const int range = next.fetch_add(1, std::memory_order_relaxed);
      if (range >= ranges) return;
      const int begin = range * grain;
      body(begin, begin + std::min(grain, count - begin));
    }
  }
};

// The caller publishes a job, works on it, withdraws it when no range is left, and waits only for
// the workers that did join: a worker that wakes up too late costs nothing.
class Pool {
 public:
  // Fewer threads where the system gives no more (a limit of the user's, no memory for a stack).
  explicit Pool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::exception&) {  // system_error, or no memory for the list
    }
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // False when another caller has the pool.
  bool run(Job& job) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++jobs_;
    }
    wake_.notify_all();
    job.run();
    {
      std::unique_lock lock(mutex_);
      job_ = nullptr;
      done_.wait(lock, [this] { return active_ == 0; });
    }
    taken_.store(false, std::memory_order_release);
    return true;
  }

 private:
  void work() {
    unsigned seen = 0;  // the last job that this worker joined
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || (job_ != nullptr && jobs_ != seen); });
      if (stopping_) return;
      Job* const job = job_;
      seen = jobs_;
      ++active_;
      lock.unlock();
      job->run();
      lock.lock();
      if (--active_ == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;  // guarded by mutex_, like the next three
  unsigned jobs_ = 0;   // tells a new job from the last one at the same address
  int active_ = 0;
  bool stopping_ = false;
  std::atomic<bool> taken_{false};
  std::vector<std::thread> workers_;  // last: the threads use everything above
};

std::mutex pool_change;
std::unique_ptr<Pool> pool_owner;  // guarded by pool_change; joins its threads at exit
std::atomic<Pool*> pool{nullptr};

std::mutex blas_change;
int blas_threads = 1;     // what OpenBLAS may use; guarded by blas_change, like the next
int one_blas_thread = 0;  // how many OneBlasThread there are

void replace_pool(int threads) {
  pool.store(nullptr);
  pool_owner.reset();
  pool_owner = std::make_unique<Pool>(threads);
  // OpenBLAS raises a signal when it gets no thread: it must not ask where we were refused.
  const std::lock_guard lock(blas_change);
  blas_threads = pool_owner->threads() == threads ? threads : 1;
  if (one_blas_thread == 0) openblas_set_num_threads(blas_threads);
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

OneBlasThread::OneBlasThread() {
  (void)current_pool();  // it settles what OpenBLAS may use otherwise
  const std::lock_guard lock(blas_change);
  if (one_blas_thread++ == 0) openblas_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  const std::lock_guard lock(blas_change);
  if (--one_blas_thread == 0) openblas_set_num_threads(blas_threads);
}

void parallel_for(int count, int grain, RangeBody body) {
  ENGRAM_CHECK(grain > 0);
  if (count <= 0) return;
  if (count > grain) {
    Pool& threads = current_pool();
    Job job{body, count, grain};
    if (threads.threads() > 1 && threads.run(job)) return;
  }
  body(0, count);
}

}  // namespace engram
