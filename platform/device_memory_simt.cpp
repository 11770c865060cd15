// Memory of the emulated device, and the faults that a test may give it.
//
// With separate memory every launch is looked at before it runs: a pointer among its arguments that
// is not into the device's memory is one that a real kernel would fault on.
#include "platform/device_memory.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "platform/device.h"
#include "platform/device_trial_simt.h"
#include "platform/simt_block.h"
#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"

namespace engram::simt {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::uintptr_t, std::size_t> blocks;  // address -> bytes
  std::size_t bytes = 0;
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
  return address - after->first < after->second;
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

std::size_t free_bytes() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return device_trial().memory_bytes - std::min(all.bytes, device_trial().memory_bytes);
}

Result<void*> allocate(std::size_t bytes) {
  if (const std::size_t free = free_bytes(); bytes > free) {
    return device_memory_refused(bytes, free);
  }
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  void* const memory = device_allocate(bytes);
  std::memset(memory, 0, bytes);
  device_mark_written(memory, bytes);
  all.blocks[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  all.bytes += bytes;
  return memory;
}

void release(void* memory, std::size_t bytes) {
  if (memory == nullptr) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  ENGRAM_CHECK(all.blocks.erase(reinterpret_cast<std::uintptr_t>(memory)) == 1);
  all.bytes -= bytes;
  device_free(memory);
}

bool reaches(const void* memory) {
  return !device_trial().separate_memory || is_ours(memory);
}

Status copy(Stream /*stream*/, void* to, std::size_t to_pitch, const void* from,
            std::size_t from_pitch, std::size_t bytes, std::size_t rows) {
  if (device_trial().waits_until_lost == 0) return lost();
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

Status synchronise(Stream /*stream*/) {
  int& waits = device_trial().waits_until_lost;
  if (waits == 0) return lost();
  if (waits > 0) --waits;
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

const DeviceMemory kMemory{"simt", allocate, release,     free_bytes, reaches,
                           copy,   open,     synchronise, mark,       seconds_between_marks};

Result<int*> device_verdict() {
  static void* const verdict = allocate(sizeof(int)).value();
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

OnTrial::OnTrial(const DeviceTrial& trial) {
  device_trial() = trial;
  if (!trial.separate_memory) return;
  hooks().launch_begins = look_at_arguments;
}

OnTrial::~OnTrial() {
  if (device_trial().separate_memory) hooks().launch_begins = nullptr;
  device_trial() = {};
}

std::size_t device_bytes_allocated() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.bytes;
}

}  // namespace engram::simt
