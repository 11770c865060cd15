// The thread pool: every element once, whoever calls and however often.
#include "platform/threads.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "platform/blas.h"
#include "tests/support/catch.h"
#include "tests/support/no_new_threads.h"
#include "tests/support/thread_count.h"

namespace engram {
namespace {

void require_each_once(int count, int grain) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  std::atomic<bool> aligned{true};
  parallel_for(count, grain, [&](int begin, int end) {
    if (begin % grain != 0 || end <= begin || end > count) aligned = false;
    if (end != count && (end - begin) % grain != 0) aligned = false;
    for (int i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  REQUIRE(aligned);
  REQUIRE(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

}  // namespace

TEST_CASE("threads: every element is visited once", "[platform][threads]") {
  const int threads = GENERATE(1, 2, 5);
  const int count = GENERATE(0, 1, 2, 15, 16, 17, 1000);
  const int grain = GENERATE(1, 2, 16, 5000);
  CAPTURE(threads, count, grain);
  const test::ThreadCount with(threads);
  REQUIRE(thread_count() == threads);
  require_each_once(count, grain);
}

TEST_CASE("threads: who wants to be alone does all of it", "[platform][threads]") {
  const test::ThreadCount with(3);
  const auto ranges = [] {
    std::atomic<int> count{0};
    parallel_for(1000, 1, [&](int, int) { ++count; });
    return count.load();
  };
  CHECK(ranges() == 1000);
  {
    const OneThread alone;
    CHECK(ranges() == 1);
    { const OneThread twice; }
    CHECK(ranges() == 1);
    std::thread([&] { CHECK(ranges() == 1000); }).join();  // another thread is not meant
  }
  CHECK(ranges() == 1000);
}

TEST_CASE("threads: many jobs, one after another", "[platform][threads]") {
  const test::ThreadCount with(3);
  for (int i = 0; i < 2000; ++i) {
    std::atomic<int> sum{0};
    parallel_for(7, 1, [&](int begin, int end) { sum += end - begin; });
    REQUIRE(sum == 7);
  }
}

TEST_CASE("threads: what a body wrote is seen after the call", "[platform][threads]") {
  const test::ThreadCount with(2);
  std::vector<int> plain(4096);  // not atomic on purpose: ThreadSanitizer watches
  for (int round = 1; round < 50; ++round) {
    parallel_for(4096, 64, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) plain[static_cast<std::size_t>(i)] += round;
    });
    REQUIRE(std::all_of(plain.begin(), plain.end(),
                        [&](int v) { return v == round * (round + 1) / 2; }));
  }
}

TEST_CASE("threads: a body may call again, several threads may call", "[platform][threads]") {
  const test::ThreadCount with(2);
  std::atomic<int> inner{0};
  parallel_for(8, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      parallel_for(10, 1, [&](int b, int e) { inner += e - b; });
    }
  });
  REQUIRE(inner == 80);

  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) parallel_for(5, 1, [&](int b, int e) { total += e - b; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  REQUIRE(total == 4 * 200 * 5);
}

TEST_CASE("threads: a system that gives none is no failure", "[platform][threads]") {
  const test::ThreadCount with(1);
  {
    const test::NoNewThreads refused;
    set_thread_count(4);
    REQUIRE(thread_count() == 1);
    require_each_once(100, 1);
  }
  set_thread_count(4);  // asked again, it gets them
  REQUIRE(thread_count() == 4);
  require_each_once(100, 1);
}

TEST_CASE("threads: OpenBLAS has one, however many we have", "[platform][threads]") {
  const test::ThreadCount with(3);
  REQUIRE(openblas_get_num_threads() == 1);
}

TEST_CASE("threads: 0 means one per usable core", "[platform][threads]") {
  const test::ThreadCount with(0);
  REQUIRE(thread_count() >= 1);
  require_each_once(100, 1);
}

}  // namespace engram
