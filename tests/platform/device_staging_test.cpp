// Operands that the device cannot reach: copied there and back, and only then.
#include "platform/device_staging.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "platform/arena.h"
#include "platform/buffer_allocator.h"
#include "platform/device_trial_simt.h"
#include "platform/resizable_memory.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

namespace engram {
namespace {

using simt::kMemory;
using test::says;

struct Apart {  // memory of the device's own
  explicit Apart(simt::DeviceTrial trial = {}) : on((trial.separate_memory = true, trial)) {
    DeviceStaging::of(kMemory).try_again();
  }
  ~Apart() { DeviceStaging::of(kMemory).try_again(); }
  simt::OnTrial on;
};

}  // namespace

TEST_CASE("device_staging: rows go to the device and come back", "[platform][device]") {
  const Apart apart;
  std::vector<float> host(5 * 9, 1.0f);
  REQUIRE_FALSE(kMemory.reaches(host.data()));
  StagingTurn turn(kMemory);
  REQUIRE(turn.begin().ok());
  // Four rows of seven floats, nine apart.
  void* there = turn.place(host.data(), 9 * 4, 7 * 4, 4, true).value();
  REQUIRE(kMemory.reaches(there));
  REQUIRE(kMemory.reaches(static_cast<char*>(there) + StagingTurn::row_pitch(7 * 4) * 3 + 27));
  for (int r = 0; r < 4; ++r) {
    auto* row = reinterpret_cast<float*>(static_cast<char*>(there) +
                                         StagingTurn::row_pitch(7 * 4) * std::size_t(r));
    for (int c = 0; c < 7; ++c) {
      REQUIRE(row[c] == 1.0f);
      row[c] = float(10 * r + c);
    }
  }
  REQUIRE(turn.end(Status()).ok());
  for (int i = 0; i < 45; ++i) {
    const bool ours = i < 4 * 9 && i % 9 < 7;
    REQUIRE(host[std::size_t(i)] == (ours ? float(10 * (i / 9) + i % 9) : 1.0f));
  }
}

TEST_CASE("device_staging: after a failure the host's operands are as before",
          "[platform][device]") {
  const Apart apart;
  std::vector<float> host(100, 1.0f);
  StagingTurn turn(kMemory);
  REQUIRE(turn.begin().ok());
  void* there = turn.place(host.data(), 400, 400, 1, true).value();
  std::memset(there, 0, 400);
  REQUIRE(turn.end(Status(Code::bad_data, "no factor")).code() == Code::bad_data);
  REQUIRE(host == std::vector<float>(100, 1.0f));
}

TEST_CASE("device_staging: memory is taken once, and kept", "[platform][device]") {
  const Apart apart;
  constexpr std::size_t kEach = 1 << 20;
  std::vector<std::byte> large(3 * kEach);
  DeviceStaging& staging = DeviceStaging::of(kMemory);
  const auto run = [&](int operands) {
    StagingTurn turn(kMemory);
    REQUIRE(turn.begin().ok());
    for (int i = 0; i < operands; ++i) {
      const std::byte* const operand = large.data() + kEach * std::size_t(i);
      REQUIRE(turn.place(operand, kEach, kEach, 1, i == 0).ok());
    }
    REQUIRE(turn.end(Status()).ok());
  };
  run(3);
  run(3);  // what grew is joined
  const std::size_t bytes = simt::device_bytes_allocated();
  for (int i = 0; i < 5; ++i) run(1 + i % 3);
  REQUIRE(simt::device_bytes_allocated() == bytes);
  REQUIRE(staging.bytes() >= 3u << 20);
}

TEST_CASE("device_staging: what is to come back is placed once", "[platform][device]") {
  const Apart apart;
  std::vector<float> host(8, 1.0f);
  StagingTurn turn(kMemory);
  REQUIRE(turn.begin().ok());
  void* const there = turn.place(host.data(), 32, 32, 1, true).value();
  CHECK(turn.place(host.data(), 32, 32, 1, false).value() == there);
  CHECK(turn.place(host.data(), 16, 16, 1, false).value() != there);  // another operand
  REQUIRE(turn.end(Status()).ok());
}

TEST_CASE("device_staging: too little memory is refused with figures", "[platform][device]") {
  const Apart apart({.memory_bytes = simt::device_bytes_allocated() + (8 << 20)});
  const auto refused = kMemory.allocate(9 << 20);
  REQUIRE(refused.status().code() == Code::out_of_memory);
  REQUIRE(says(refused.status(), "8 MiB free"));
  REQUIRE(says(refused.status(), "9 MiB"));
}

TEST_CASE("device_staging: a lost device refuses every later turn", "[platform][device]") {
  const Apart apart({.waits_until_lost = 1});
  std::vector<float> host(100, 1.0f);
  const auto run = [&] {
    StagingTurn turn(kMemory);
    ENGRAM_TRY(turn.begin());
    ENGRAM_ASSIGN(void* there, turn.place(host.data(), 400, 400, 1, true));
    std::memset(there, 0, 400);
    return turn.end(Status());
  };
  const DeviceStaging& staging = DeviceStaging::of(kMemory);
  std::atomic<bool> has_run = false;
  std::thread asks([&] {  // as who gives the device up does, at any time
    while (staging.lost().ok() && !has_run) std::this_thread::yield();
  });
  const Status first = run();  // lost while the result comes back
  has_run = true;
  asks.join();
  REQUIRE(first.code() == Code::device_failure);
  REQUIRE(says(first, "cudaStreamSynchronize"));
  REQUIRE(run().code() == Code::device_failure);
  {
    StagingTurn turn(kMemory);
    REQUIRE_FALSE(turn.end(Status(Code::device_failure, "something that follows from it")).ok());
  }
  REQUIRE(std::string(staging.lost().what()) == first.what());  // the reason stays the reason
}

TEST_CASE("device_staging: whoever asks a lost device for memory finds out that it is lost",
          "[platform][device]") {
  const Apart apart({.allocations_until_lost = 0});
  const DeviceStaging& staging = DeviceStaging::of(kMemory);
  struct Buffers {  // are the device's
    Buffers() { set_buffer_memory(&kMemory); }
    ~Buffers() { set_buffer_memory(nullptr); }
  } const buffers;
  const int who = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(who);
  REQUIRE(staging.lost().ok());
  if (who == 0) CHECK_THROWS_AS(SharedVector<float>(10), std::bad_alloc);
  if (who == 1) CHECK_THROWS_AS(BufferVector<float>(10), std::bad_alloc);
  if (who == 2) CHECK(Arena::create(10).status().code() == Code::device_failure);
  if (who == 3) {
    ResizableMemory memory;
    CHECK_FALSE(memory.resize(10));
  }
  if (who == 4) {
    const std::size_t more = staging.bytes() + 1;
    CHECK(DeviceStaging::of(kMemory).reserve(more).code() == Code::device_failure);
  }
  CHECK(staging.lost().code() == Code::device_failure);
}

TEST_CASE("device_staging: a device that has too little memory is not lost", "[platform][device]") {
  const Apart apart({.memory_bytes = simt::device_bytes_allocated()});
  set_buffer_memory(&kMemory);
  CHECK_THROWS_AS(SharedVector<float>(10), std::bad_alloc);
  set_buffer_memory(nullptr);
  CHECK(DeviceStaging::of(kMemory).lost().ok());
}

TEST_CASE("device_memory: a lost device gives no memory, and takes back what it gave",
          "[platform][device]") {
  const Apart apart({.waits_until_lost = 1});
  void* const before = kMemory.allocate(100).value();
  REQUIRE(kMemory.synchronise({}).ok());
  CHECK(kMemory.allocate(100).status().code() == Code::device_failure);
  CHECK(kMemory.allocate_shared(100).status().code() == Code::device_failure);
  kMemory.release(before, 100);
}

TEST_CASE("device_memory: what one side has at a time is closed while the device runs",
          "[platform][device][child]") {
  const Apart apart({.one_side_at_a_time = true});
  static char *managed, *shared;
  managed = static_cast<char*>(kMemory.allocate(100).value());
  shared = static_cast<char*>(kMemory.allocate_shared(100).value());
  REQUIRE_FALSE(kMemory.shares_while_running());
  simt::device_trial().meanwhile = [] { ++*shared; };
  REQUIRE(kMemory.synchronise({}).ok());
  CHECK(*shared == 1);
  CHECK(++*managed == 1);  // the device is done
  simt::device_trial().meanwhile = [] { ++*managed; };
  const pid_t child = fork();
  if (child == 0) {
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    (void)kMemory.synchronise({});
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  kMemory.release(managed, 100);
  kMemory.release_shared(shared, 100);
}

TEST_CASE("arena: from a device where one computes", "[platform][device][arena]") {
  const Apart apart;
  const std::size_t before = simt::device_bytes_allocated();
  set_buffer_memory(&kMemory);
  {
    Arena arena = Arena::create(4096).value();
    ResizableMemory memory;
    REQUIRE(memory.resize(1000));
    std::memset(memory.data(), 7, 1000);
    set_buffer_memory(nullptr);  // what is there stays what it is
    auto* floats = arena.take<float>(1000);
    REQUIRE(kMemory.reaches(floats));
    REQUIRE(floats[0] == 0.0f);
    REQUIRE(floats[999] == 0.0f);
    Arena moved = std::move(arena);
    REQUIRE(simt::device_bytes_allocated() == before + 4096 + 1000);
    REQUIRE(memory.resize(3000));  // to the machine's
    REQUIRE_FALSE(kMemory.reaches(memory.data()));
    REQUIRE(static_cast<char*>(memory.data())[999] == 7);
    REQUIRE(simt::device_bytes_allocated() == before + 4096);
  }
  REQUIRE(simt::device_bytes_allocated() == before);
}

}  // namespace engram
