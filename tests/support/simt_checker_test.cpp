// The checker: kernels of a few lines with one fault each, and some with none. Compiled, as kernels
// are for it, with -fsanitize=thread; part of kernel_check only.
#include <string>

#include "platform/launch.h"
#include "tests/support/catch.h"
#include "tests/support/device_matrix.h"
#include "tests/support/says.h"

namespace engram::simt {
namespace {

using Kernel = void(int* buffer);

// 64 numbers, of which the first 32 are initialised. Blocks of 64 threads.
std::string findings(Kernel* kernel, unsigned blocks = 1) {
  const int host[32] = {};
  test::DeviceBlock buffer(64 * sizeof(int));
  buffer.fill(0, host, sizeof host);
  return launch(kernel, {.grid = dim3(blocks), .block = dim3(64)}, Stream{},
                static_cast<int*>(buffer.get()))
      .what();
}
int thread_index() {
  return static_cast<int>(threadIdx.x);
}

template <bool synchronised>
void turn_around(int* out) {
  ENGRAM_SHARED(int, shared, [64]);
  shared[thread_index()] = thread_index();
  if (synchronised) __syncthreads();
  out[thread_index()] = shared[63 - thread_index()];
}
template <bool synchronised>
void turn_warps_around(int* out) {
  ENGRAM_SHARED(int, shared, [64]);
  shared[thread_index()] = thread_index();
  if (synchronised) __syncwarp();
  out[thread_index()] = shared[thread_index() ^ 31];
}

}  // namespace

TEST_CASE("checker: sound kernels pass", "[kernels][checker]") {
  REQUIRE(findings(turn_around<true>) == "ok");
  REQUIRE(findings(turn_warps_around<true>) == "ok");
  REQUIRE(findings([](int* b) { atomicAdd(b, 1); }, 3) == "ok");
}

TEST_CASE("checker: races are found, with both lines", "[kernels][checker]") {
  SECTION("no barrier") {
    const std::string what = findings(turn_around<false>);
    REQUIRE(test::says(what, "race: "));
    REQUIRE(test::says(what, "simt_checker_test.cpp:31"));
    REQUIRE(test::says(what, "simt_checker_test.cpp:33"));
  }
  SECTION("no __syncwarp") {
    REQUIRE(test::says(findings(turn_warps_around<false>), "race: "));
  }
  SECTION("reads before, a write after") {
    REQUIRE(test::says(findings([](int* b) {
                         ENGRAM_SHARED(int, seen, [64]);
                         seen[thread_index()] = b[0];
                         if (threadIdx.x == 63) b[0] = 1;
                       }),
                       "race: write"));
  }
  SECTION("two blocks") {
    REQUIRE(findings([](int* b) { b[thread_index()] = 1; }, 1) == "ok");
    REQUIRE(test::says(findings([](int* b) { b[thread_index()] = 1; }, 2), "race: write"));
  }
  SECTION("an atomic and a plain write") {
    REQUIRE(test::says(findings([](int* b) {
                         if (threadIdx.x == 0) {
                           b[0] = 1;
                         } else {
                           atomicAdd(b, 1);
                         }
                       }),
                       "race: "));
  }
}

TEST_CASE("checker: what is not there, or not yet", "[kernels][checker]") {
  REQUIRE(test::says(findings([](int* b) { b[thread_index() + 1] = 0; }),
                     "out of bounds: write of 4 bytes at simt_checker_test.cpp"));
  REQUIRE(test::says(findings([](int* b) { b[thread_index()] = b[-1]; }), "out of bounds: read"));
  REQUIRE(test::says(findings([](int* b) {
                       ENGRAM_SHARED(int, shared, [64]);
                       shared[thread_index() + 4] = b[0];
                     }),
                     "a shared variable of 256"));
  REQUIRE(test::says(findings([](int* b) { b[thread_index()] += 1; }), "uninitialised: read"));
  REQUIRE(test::says(findings([](int* b) {
                       ENGRAM_SHARED(int, shared, [64]);
                       b[thread_index()] = shared[thread_index()];
                     }),
                     "uninitialised: read"));
}

}  // namespace engram::simt
