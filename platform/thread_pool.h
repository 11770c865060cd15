// The worker threads behind parallel_for (threads.h, which is what everybody else includes).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

#include "platform/threads.h"

namespace engram {

// When a thread is woken the system may put it on the core of the one that woke it, and leave it
// there for as long as both compute, with other cores idle. This moves the calling thread elsewhere;
// it may come back whenever the system likes.
inline void leave_core(int core) {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  others = allowed;
  CPU_CLR(static_cast<unsigned>(core), &others);
  if (CPU_COUNT(&others) == 0 || CPU_COUNT(&others) == CPU_COUNT(&allowed)) return;
  if (sched_setaffinity(0, sizeof others, &others) == 0) {
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

// One piece of work, on the caller's stack. Threads take ranges from `next` until none is left.
struct Job {
  RangeBody body;
  int count;
  int grain;
  int core = -1;             // of the caller when it began
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

// Tells the core that this thread only waits: it saves power, and a second thread of the core runs.
inline void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `ready` or for as long as a short wait is cheaper than going to sleep and being woken.
// It never yields: on a busy machine threads that yield to each other do nothing else.
template <class Ready>
bool spin_until(const Ready& ready) {
  constexpr auto kLongest = std::chrono::microseconds(40);
  constexpr int kLooks = 64;  // between two looks at the clock, which takes longer than one of them
  const auto look = [&] {
    for (int i = 0; i < kLooks; ++i) {
      if (ready()) return true;
      pause_core();
    }
    return false;
  };
  if (look()) return true;
  for (const auto start = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - start < kLongest;) {
    if (look()) return true;
  }
  return false;
}

// The caller publishes a job, works on it, withdraws it when no range is left, and waits only for
// the workers that did join: a worker that wakes up too late costs nothing.
//
// Whoever waits looks for a moment before it sleeps: kernels follow each other within microseconds,
// and waking a thread takes longer than the shorter ones do. All that is looked at is `state_`:
//     number of the job | 1 while it may be joined | workers in it
// It changes in one step, so that nobody joins a job that was withdrawn. Mutex and conditions are for
// sleeping alone: a sleeper counts itself before its last look at `state_`, and whoever changes
// `state_` looks for sleepers afterwards (both in one total order), so no call is missed.
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
    stopping_ = true;
    wake(wake_);
    for (std::thread& worker : workers_) worker.join();
  }

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // False when another caller has the pool.
  bool run(Job& job) {
    if (taken_.exchange(true, std::memory_order_acquire)) return false;
    job_ = &job;
    job.core = sched_getcpu();
    state_ = (number_of(state_) + 1) << kNumberShift | kOpen;
    if (sleepers_ > 0) wake(wake_);
    job.run();
    state_ &= ~kOpen;
    const auto left = [this] { return workers_in(state_) == 0; };
    if (!spin_until(left)) {
      std::unique_lock lock(mutex_);
      caller_sleeps_ = true;
      done_.wait(lock, left);
      caller_sleeps_ = false;
    }
    taken_.store(false, std::memory_order_release);
    return true;
  }

 private:
  using State = std::uint64_t;
  static constexpr int kNumberShift = 17;
  static constexpr State kOpen = State{1} << 16;
  static constexpr State number_of(State state) { return state >> kNumberShift; }
  static constexpr State workers_in(State state) { return state & (kOpen - 1); }

  void wake(std::condition_variable& sleeping) {
    { const std::lock_guard lock(mutex_); }  // who looked before the change sleeps by now
    sleeping.notify_all();
  }

  // The job that is open, if it is not `seen`.
  Job* join(State& seen) {
    State state = state_;
    while ((state & kOpen) != 0 && number_of(state) != seen) {
      if (!state_.compare_exchange_weak(state, state + 1)) continue;
      seen = number_of(state);
      return job_;  // it stays until this worker leaves
    }
    return nullptr;
  }

  void leave() {
    const State before = state_.fetch_sub(1);
    if ((before & kOpen) == 0 && workers_in(before) == 1 && caller_sleeps_) wake(done_);
  }

  void work() {
    State seen = 0;  // the last job that this worker joined
    const auto called = [&] {
      const State state = state_;
      return stopping_ || ((state & kOpen) != 0 && number_of(state) != seen);
    };
    while (!stopping_) {
      if (Job* const job = join(seen)) {
        if (job->core >= 0 && sched_getcpu() == job->core) leave_core(job->core);
        job->run();
        leave();
      }
      if (spin_until(called)) continue;
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, called);
      --sleepers_;
    }
  }

  std::atomic<State> state_{0};
  Job* job_ = nullptr;  // written before a job is opened, read by those who joined it
  std::atomic<bool> taken_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> workers_;  // last: the threads use everything above
};

}  // namespace engram
