// The emulator: kernels of a few lines that must work, and mistakes that it must name.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/launch.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram::simt {
namespace {

using Kernel = void(int* out);

Status run_kernel(Kernel* kernel, unsigned threads, std::vector<int>& out, unsigned blocks = 1) {
  return launch(kernel, {.grid = dim3(blocks), .block = dim3(threads)}, Stream{}, out.data());
}
std::string failure(Kernel* kernel, unsigned threads = 64) {
  std::vector<int> out(threads, 0);
  return run_kernel(kernel, threads, out).what();
}
std::string here(int line) {
  return "simt_test.cpp:" + std::to_string(line);
}

class InOrder {
 public:
  explicit InOrder(Order order) { options() = {.order = order, .seed = 7}; }
  ~InOrder() { options() = {}; }
};

int thread_index() {
  return static_cast<int>(threadIdx.x);
}

// Turns 64 values around by way of shared memory; `synchronised` or not.
template <bool synchronised>
void turn_around(int* out) {
  ENGRAM_SHARED(int, shared, [64]);
  shared[thread_index()] = thread_index();
  if (synchronised) __syncthreads();
  out[thread_index()] = shared[63 - thread_index()];
}

}  // namespace

TEST_CASE("simt: threads meet at barriers, in any order", "[platform][simt]") {
  const Order order = GENERATE(Order::forward, Order::reverse, Order::random);
  const InOrder in(order);
  std::vector<int> out(64, -1);
  REQUIRE(run_kernel(turn_around<true>, 64, out).ok());
  for (int i = 0; i < 64; ++i) REQUIRE(out[i] == 63 - i);
}

TEST_CASE("simt: without the barrier the answer is wrong", "[platform][simt]") {
  const Order order = GENERATE(Order::forward, Order::reverse, Order::random);
  const InOrder in(order);
  std::vector<int> out(64, -1), right(64);
  REQUIRE(run_kernel(turn_around<false>, 64, out).ok());
  for (int i = 0; i < 64; ++i) right[i] = 63 - i;
  REQUIRE(out != right);  // shared memory is not initialised
}

TEST_CASE("simt: each order is another one", "[platform][simt]") {
  const auto ranks = [](Order order) {
    const InOrder in(order);
    std::vector<int> out(100, 0);
    REQUIRE(run_kernel(
                [](int* o) {
                  ENGRAM_SHARED(int, next, [1]);
                  if (threadIdx.x == 0) *next = 0;
                  __syncthreads();
                  o[threadIdx.x] = atomicAdd(next, 1);
                },
                100, out)
                .ok());
    return out;
  };
  const std::vector<int> forward = ranks(Order::forward), reverse = ranks(Order::reverse);
  REQUIRE(forward[1] < forward[2]);
  REQUIRE(reverse[1] > reverse[2]);
  std::vector<int> random = ranks(Order::random);
  REQUIRE(random != forward);
  std::sort(random.begin(), random.end());
  for (int i = 0; i < 100; ++i) REQUIRE(random[i] == i);
}

TEST_CASE("simt: indices of a grid in three dimensions", "[platform][simt]") {
  std::vector<int> seen(2 * 3 * 4 * 5, 0);
  const auto kernel = [](int* o) {
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
    const unsigned thread = threadIdx.x + blockDim.x * threadIdx.z;
    ++o[block * blockDim.x * blockDim.z + thread];
  };
  const Geometry geometry{.grid = dim3(2, 3), .block = dim3(4, 1, 5)};
  REQUIRE(launch(+kernel, geometry, Stream{}, seen.data()).ok());
  REQUIRE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
}

TEST_CASE("simt: shuffles, votes and sums", "[platform][simt]") {
  std::vector<int> out(32 * 8, 0);
  REQUIRE(run_kernel(
              [](int* all) {
                const int lane = thread_index();
                int* o = all + 8 * lane;
                o[0] = __shfl_sync(~0u, lane, 5);
                o[1] = __shfl_up_sync(~0u, lane, 3);
                o[2] = __shfl_down_sync(~0u, lane, 3, 8);
                o[3] = __shfl_xor_sync(~0u, lane, 16);
                o[4] = static_cast<int>(__ballot_sync(~0u, lane % 2));
                o[5] = __any_sync(~0u, lane == 9) + 2 * __all_sync(~0u, lane < 31);
                o[6] = static_cast<int>(__reduce_add_sync(~0u, static_cast<unsigned>(lane)));
                o[7] = __syncthreads_count(lane < 7) + 100 * __syncthreads_or(lane == 40) +
                       200 * __syncthreads_and(lane < 32);
              },
              32, out)
              .ok());
  for (int lane = 0; lane < 32; ++lane) {
    const std::vector<int> expected{5,
                                    lane < 3 ? lane : lane - 3,
                                    lane % 8 < 5 ? lane + 3 : lane,
                                    lane ^ 16,
                                    static_cast<int>(0xaaaaaaaau),
                                    1,
                                    31 * 32 / 2,
                                    207};
    REQUIRE(std::vector<int>(out.begin() + 8 * lane, out.begin() + 8 * lane + 8) == expected);
  }
}

TEST_CASE("simt: misuse is named with its place", "[platform][simt]") {
  SECTION("threads at different barriers") {
    const int line = __LINE__ + 3;
    const std::string what = failure([](int*) {
      if (threadIdx.x < 32) {
        __syncthreads();
      } else {
        __syncthreads();
      }
    });
    REQUIRE(test::says(what, "another barrier"));
    REQUIRE(test::says(what, here(line)));
  }
  SECTION("a thread that leaves before a barrier") {
    const int line = __LINE__ + 3;
    const std::string what = failure([](int*) {
      if (threadIdx.x == 3) return;
      __syncthreads();
    });
    REQUIRE(test::says(what, "63 of 64 threads wait"));
    REQUIRE(test::says(what, here(line)));
  }
  SECTION("a shuffle that some lanes leave out") {
    const std::string what = failure([](int* o) {
      if (threadIdx.x % 32 < 16) o[threadIdx.x] = __shfl_xor_sync(~0u, 1, 16);
    });
    REQUIRE(test::says(what, "__shfl_xor_sync"));
    REQUIRE(test::says(what, "ffff0000"));
  }
  SECTION("a shuffle from a lane outside the mask") {
    const std::string what = failure([](int* o) {
      if (threadIdx.x % 32 < 16) o[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);
    });
    REQUIRE(test::says(what, "reads lane 20, which takes no part"));
  }
  SECTION("a vector where it may not be") {
    const std::string what = failure([](int* o) { load_vector<int4>(o + 1); });
    REQUIRE(test::says(what, "misaligned vector load at simt_test.cpp"));
  }
  SECTION("a trap") {
    REQUIRE(test::says(failure([](int*) { __trap(); }), "__trap"));
  }
  SECTION("a block too large, and afterwards all is well") {
    REQUIRE(test::says(failure([](int*) {}, 1025), "1 to 1024 threads"));
    REQUIRE(failure([](int*) { __syncthreads(); }, 1024) == "ok");
  }
}

TEST_CASE("simt: bytes are multiplied and taken apart as PTX does", "[platform][simt]") {
  REQUIRE(dot_bytes(0xff800102u, static_cast<std::int32_t>(0x80ff7f03u), 5) ==
          5 + 2 * 3 + 1 * 127 + 128 * -1 + 255 * -128);
  REQUIRE(dot_bytes(0xff800102u, 0x80ff7f03u, 5u) == 5 + 2 * 3 + 127 + 128 * 255 + 255 * 128);
  REQUIRE(__byte_perm(0x33221100u, 0x77665544u, 0x7140u) == 0x77114400u);
  REQUIRE(__float2int_rn(2.5f) == 2);
  REQUIRE(__float2int_rn(-3.5f) == -4);
}

}  // namespace engram::simt
