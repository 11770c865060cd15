// Runs the blocks of a launch: which thread is next, how a block begins and ends.
#include "platform/simt_machine.h"

#include <bit>
#include <cstdint>

#include <sys/mman.h>

#include "platform/simt_block.h"
#include "platform/simt_hooks.h"

namespace engram::simt {
namespace {

constexpr unsigned kMaxThreads =
    1024;  // of a block: CUDA's limits, on every GPU that we compile for
constexpr unsigned kMaxGridSide = 65535;

// Stacks of all threads of a block, mapped once; a page that is never used costs nothing.
char* stack_of(unsigned thread) {
  static thread_local char* const stacks = [] {
    void* memory = mmap(nullptr, kMaxThreads * Fiber::kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ENGRAM_CHECK(memory != MAP_FAILED);
    return static_cast<char*>(memory);
  }();
  return stacks + thread * Fiber::kStackBytes;
}

unsigned random_below(unsigned end) {  // xorshift: the same on every machine
  std::uint64_t& x = block().random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return static_cast<unsigned>(x >> 11) % end;
}

Worker* worker_of(unsigned warp, unsigned lane) {
  return block().workers[warp * kWarp + lane].get();
}

Worker* next_at_random() {
  Block& b = block();
  const auto warps = static_cast<unsigned>(b.warps.size());
  const unsigned first = random_below(warps);
  for (unsigned i = 0; i < warps; ++i) {
    const unsigned warp = (first + i) % warps;
    unsigned ready = b.warps[warp].ready;
    if (ready == 0) continue;
    for (unsigned skip = random_below(std::popcount(ready)); skip > 0; --skip) ready &= ready - 1;
    return worker_of(warp, std::countr_zero(ready));
  }
  return nullptr;
}

// The next thread that can run, after `current` in the order of the launch; null: there is none.
Worker* next_worker() {
  Block& b = block();
  if (b.options.order == Order::random) return next_at_random();
  const bool forward = b.options.order == Order::forward;
  const auto warps = static_cast<unsigned>(b.warps.size());
  const unsigned before_first = forward ? warps - 1 : 0;
  const unsigned warp = b.current != nullptr ? b.current->thread.warp : before_first;
  const auto pick = [&](unsigned w, unsigned ready) {
    return worker_of(w, forward ? std::countr_zero(ready) : kWarp - 1 - std::countl_zero(ready));
  };
  if (b.current != nullptr) {
    const unsigned lane = b.current->thread.lane;
    const unsigned behind = forward ? ~1u << lane : (1u << lane) - 1;
    if (const unsigned ready = b.warps[warp].ready & behind) return pick(warp, ready);
  }
  for (unsigned i = 1; i <= warps; ++i) {
    const unsigned w = (forward ? warp + i : warp + warps - i) % warps;
    if (b.warps[w].ready != 0) return pick(w, b.warps[w].ready);
  }
  return nullptr;
}

void change_to(Worker* next, bool for_good = false) {
  Block& b = block();
  Worker* const from = b.current;
  b.current = next;
  running = next != nullptr ? &next->thread : nullptr;
  Fiber::change(from != nullptr ? from->fiber : b.scheduler,
                next != nullptr ? next->fiber : b.scheduler, for_good);
}

void leave(State state) {
  Worker& worker = *block().current;
  worker.state = state;
  block().warps[worker.thread.warp].ready &= ~(1u << worker.thread.lane);
}

void thread_main() {
  Fiber::begin();
  Block& b = block();
  b.launch.body(b.launch.arguments);
  leave(State::done);
  b.warps[b.current->thread.warp].exited |= 1u << b.current->thread.lane;
  ++b.left;
  change_to(next_worker(), true);
}

void begin_block(uint3 index) {
  Block& b = block();
  b.warps.assign((b.threads + kWarp - 1) / kWarp, Warp{});
  b.left = b.waiting = 0;
  b.current = nullptr;
  const dim3 size = b.launch.block, grid = b.launch.grid;
  for (unsigned t = 0; t < b.threads; ++t) {
    Worker& worker = *b.workers[t];
    worker.thread = {.index = {t % size.x, t / size.x % size.y, t / (size.x * size.y)},
                     .block = index,
                     .block_size = size,
                     .grid_size = grid,
                     .linear = t,
                     .lane = t % kWarp,
                     .warp = t / kWarp};
    worker.fiber.start(stack_of(t), thread_main);
    b.warps[t / kWarp].exist |= 1u << t % kWarp;
    make_ready(worker);
  }
  if (hooks().block_begins) {
    hooks().block_begins(index.x + grid.x * (index.y + grid.y * index.z), b.threads);
  }
}

void run_block(uint3 index) {
  Block& b = block();
  begin_block(index);
  while (b.error.empty()) {
    Worker* const next = next_worker();
    if (next == nullptr) break;
    change_to(next);
  }
  if (b.error.empty() && b.left < b.threads) report(why_nobody_runs());
  free_shared();
}

Status check(const Launch& launch) {
  const dim3 grid = launch.grid, size = launch.block;
  const std::uint64_t threads = std::uint64_t{size.x} * size.y * size.z;
  if (threads == 0 || threads > kMaxThreads) {
    return {Code::invalid_argument, "launch: a block has 1 to 1024 threads"};
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > kMaxGridSide ||
      grid.z > kMaxGridSide) {
    return {Code::invalid_argument, "launch: the grid is empty or too large"};
  }
  return Status();
}

}  // namespace

Options& options() {
  static Options current;
  return current;
}
Hooks& hooks() {
  static Hooks current;
  return current;
}
Block& block() {
  static thread_local Block current;
  return current;
}

void make_ready(Worker& worker) {
  worker.state = State::ready;
  block().warps[worker.thread.warp].ready |= 1u << worker.thread.lane;
}

void wait_as(State state) {
  if (state != State::ready) leave(state);
  Worker* const next = next_worker();
  if (next != block().current) change_to(next);
}

void abandon() {
  leave(State::done);
  change_to(nullptr, true);
  std::abort();  // not reached
}

Status run(const Launch& launch) {
  ENGRAM_TRY(check(launch));
  Block& b = block();
  b.launch = launch;
  b.options = options();
  b.threads = launch.block.x * launch.block.y * launch.block.z;
  b.random = 0x9e3779b97f4a7c15ull * (b.options.seed + 1);
  b.error.clear();
  b.reporting = false;
  b.scheduler.adopt_caller();
  while (b.workers.size() < b.threads) b.workers.push_back(std::make_unique<Worker>());
  if (hooks().launched) hooks().launched(launch);
  if (hooks().launch_begins) hooks().launch_begins();

  const dim3 grid = launch.grid;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  for (std::uint64_t i = 0; i < blocks && b.error.empty(); ++i) {
    const std::uint64_t n = b.options.order == Order::reverse ? blocks - 1 - i : i;
    run_block({static_cast<unsigned>(n % grid.x), static_cast<unsigned>(n / grid.x % grid.y),
               static_cast<unsigned>(n / grid.x / grid.y)});
  }
  if (hooks().launch_ends) {
    const std::string found = hooks().launch_ends();
    if (!found.empty()) b.error = b.error.empty() ? found : found + "\n" + b.error;
  }
  return b.error.empty() ? Status() : Status(Code::device_failure, b.error);
}

bool in_kernel() {
  return block().current != nullptr && !block().reporting;
}
bool own_stack(const void* address) {
  const auto* a = static_cast<const char*>(address);
  const char* stack = block().current->fiber.stack();
  return a >= stack && a < stack + Fiber::kStackBytes;
}
bool machine_memory(const void* address) {
  const auto within = [address](const void* memory, std::size_t bytes) {
    const auto* a = static_cast<const char*>(address);
    const auto* m = static_cast<const char*>(memory);
    return a >= m && a < m + bytes;
  };
  const Block& b = block();
  return within(b.launch.arguments, b.launch.arguments_bytes) || within(running, sizeof *running) ||
         within(&running, sizeof running) || within(b.warps.data(), b.warps.size() * sizeof(Warp));
}

}  // namespace engram::simt
