// Memory of the emulated device, and the faults that a test may give it.
//
// With separate memory every launch is looked at before it runs: a pointer among its arguments that
// is not into the device's memory is one that a real kernel would fault on.
#include "platform/device_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <sys/mman.h>

#include "platform/device.h"
#include "platform/device_blas.h"
#include "platform/device_recording.h"
#include "platform/device_trial_simt.h"
#include "platform/simt_block.h"
#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"

namespace engram::simt {
namespace {

struct Block {
  std::size_t bytes;
  std::size_t pages;  // bytes of those that can be closed; 0: not one of them
};
struct Registry {
  std::mutex mutex;
  std::map<std::uintptr_t, Block> blocks;  // by address
  std::size_t bytes = 0;
  std::size_t allocations = 0;
};
Registry& registry() {
  static Registry all;
  return all;
}

bool is_ours(const void* memory) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto after = all.blocks.upper_bound(address);
  if (after == all.blocks.begin()) return false;
  --after;
  return address - after->first < after->second.bytes;
}

void look_at_arguments() {
  block().launch.visit_pointers(block().launch.arguments, [](const void* pointer) {
    if (pointer == nullptr || is_ours(pointer)) return;
    block().error = "a kernel was given memory that the device cannot reach";  // it does not run
  });
}

Status lost() {
  return device_failed("cudaStreamSynchronize", "unspecified launch failure");
}

// Threads ask while another waits for the device, or a test takes it away.
std::atomic_ref<int> waits_until_lost() {
  return std::atomic_ref<int>(device_trial().waits_until_lost);
}

std::size_t free_bytes() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return device_trial().memory_bytes - std::min(all.bytes, device_trial().memory_bytes);
}

Result<void*> allocate(std::size_t bytes, bool can_be_closed) {
  if (const std::size_t free = free_bytes(); bytes > free) {
    return device_memory_refused(bytes, free);
  }
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = can_be_closed ? (bytes / kPage + 1) * kPage : 0;
  void* const memory = pages > 0 ? mmap(nullptr, pages, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, 0)
                                 : device_allocate(bytes);
  ENGRAM_CHECK(memory != MAP_FAILED);
  std::memset(memory, 0, bytes);
  device_mark_written(memory, bytes);
  all.blocks[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, pages};
  all.bytes += bytes;
  ++all.allocations;
  return memory;
}
// Is it now, as it is asked for memory?
bool is_lost_for_memory() {
  const std::lock_guard lock(registry().mutex);
  int& left = device_trial().allocations_until_lost;
  if (left == 0) waits_until_lost() = 0;
  if (left > 0) --left;
  return waits_until_lost() == 0;
}

Result<void*> allocate(std::size_t bytes) {
  if (is_lost_for_memory()) return lost();
  return allocate(bytes, device_trial().one_side_at_a_time);
}
Result<void*> allocate_shared(std::size_t bytes) {
  if (is_lost_for_memory()) return lost();
  return allocate(bytes, false);
}

bool shares_while_running() {
  return !device_trial().one_side_at_a_time;
}

void close_to_cpu(bool closed) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [address, block] : all.blocks) {
    if (block.pages == 0) continue;
    ENGRAM_CHECK(mprotect(reinterpret_cast<void*>(address), block.pages,
                          closed ? PROT_NONE : PROT_READ | PROT_WRITE) == 0);
  }
}

void release(void* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto block = all.blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  ENGRAM_CHECK(block != all.blocks.end() && block->second.bytes == bytes);
  const std::size_t pages = block->second.pages;
  all.blocks.erase(block);
  all.bytes -= bytes;
  if (pages > 0) {
    munmap(memory, pages);
  } else {
    device_free(memory);
  }
}

bool reaches(const void* memory) {
  return !device_trial().separate_memory || is_ours(memory);
}

Status copy(Stream /*stream*/, void* to, std::size_t to_pitch, const void* from,
            std::size_t from_pitch, std::size_t bytes, std::size_t rows) {
  if (waits_until_lost() == 0) return lost();
  for (std::size_t r = 0; r < rows; ++r) {
    char* const row = static_cast<char*>(to) + r * to_pitch;
    std::memcpy(row, static_cast<const char*>(from) + r * from_pitch, bytes);
    device_mark_written(row, bytes);
  }
  return Status();
}

Result<Stream> open() {
  return Stream{};
}

std::atomic<std::size_t> waits_so_far{0};

Status synchronise(Stream /*stream*/) {
  ++waits_so_far;
  const std::atomic_ref<int> waits = waits_until_lost();
  if (waits == 0) return lost();
  if (waits > 0) --waits;  // one thread waits at a time
  if (!device_trial().one_side_at_a_time) return Status();
  close_to_cpu(true);  // what was launched has run already; here it seems to
  if (device_trial().meanwhile != nullptr) {
    device_trial().meanwhile();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  close_to_cpu(false);
  return Status();
}

using Clock = std::chrono::steady_clock;
std::array<Clock::time_point, 2> marks;

Status mark(Stream /*stream*/, int place) {
  marks[std::size_t(place)] = Clock::now();
  return Status();
}

Result<double> seconds_between_marks() {
  return std::chrono::duration<double>(marks[1] - marks[0]).count();
}

}  // namespace

const DeviceMemory kMemory{.name = "simt",
                           .allocate = allocate,
                           .release = release,
                           .allocate_shared = allocate_shared,
                           .release_shared = release,
                           .shares_while_running = shares_while_running,
                           .reserve_factor = blas_reserve_factor,
                           .free_bytes = free_bytes,
                           .reaches = reaches,
                           .copy = copy,
                           .open = open,
                           .synchronise = synchronise,
                           .mark = mark,
                           .seconds_between_marks = seconds_between_marks,
                           .recordings = &kRecordings};

Result<int*> device_verdict() {
  static void* const verdict = allocate(sizeof(int), false).value();  // also of a lost device
  return static_cast<int*>(verdict);
}

Result<int> read_device_verdict(Stream stream) {
  ENGRAM_TRY(synchronise(stream));
  ENGRAM_ASSIGN(int* verdict, device_verdict());
  return int{*verdict};
}

DeviceTrial& device_trial() {
  static DeviceTrial trial;
  return trial;
}

void lose_device_after(int waits) {
  waits_until_lost() = waits;
}

void lose_device_at_allocation(int number) {
  const std::lock_guard lock(registry().mutex);
  device_trial().allocations_until_lost = number;
}

OnTrial::OnTrial(const DeviceTrial& trial) {
  device_trial() = trial;
  if (!trial.separate_memory) return;
  hooks().launch_begins = look_at_arguments;
}

OnTrial::~OnTrial() {
  if (device_trial().separate_memory) hooks().launch_begins = nullptr;
  device_trial() = {};
}

std::size_t device_waits() {
  return waits_so_far;
}

std::size_t device_allocations() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.allocations;
}

std::size_t device_bytes_allocated() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.bytes;
}

}  // namespace engram::simt
