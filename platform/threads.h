// The program's worker threads: one pool for all CPU kernels.
//
// OpenBLAS itself works in the thread that calls it, for the whole process: its own threads wait for
// each other by yielding, and on a machine that does something else too they do little else (a
// factor of 500 rows took 4 s with two of them). Our kernels call it from inside their pieces.
//
// The learner's results do not depend on the count: whole-number sums are the same in any order.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace engram {

// 0 means one thread per core that this process may use. Call at start, not while kernels run.
// Where the system refuses threads there are fewer: thread_count() says how many.
void set_thread_count(int count);
int thread_count();

// A borrowed callable body(begin, end). Two pointers, so that handing work over never allocates, as
// a std::function would for a lambda with three captures. It must not throw.
class RangeBody {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, RangeBody>)
      RangeBody(Callable&& callable)  // NOLINT: meant to convert
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, int begin, int end) {
          (*static_cast<std::remove_reference_t<Callable>*>(object))(begin, end);
        }) {}

  void operator()(int begin, int end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void* object, int begin, int end);
};

// Calls body(begin, end) on disjoint ranges that cover [0, count), several at a time; returns when
// all have ended. Every range starts at a multiple of `grain` and is `grain` long (the last may be
// shorter; with one thread, or when the pool is taken, it is one range of the full length).
// The calling thread works too. May be called from several threads and from inside a body: the pool
// serves one caller at a time, the others do their work themselves. Allocates nothing.
// Handing work over takes half a microsecond while the threads are awake: they stay so for 40 us
// after each call, then they sleep.
void parallel_for(int count, int grain, RangeBody body);

// While one lives, parallel_for of this thread does all of its work itself: for work in the background
// that must leave the other cores to who is waited for.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  bool before_;
};

}  // namespace engram
