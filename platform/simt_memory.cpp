// Memory of the emulated device.
#include <cstdlib>
#include <cstring>

#include "platform/simt_block.h"
#include "platform/simt_hooks.h"
#include "platform/simt_machine.h"

namespace engram::simt {
namespace {

constexpr std::size_t kAlignment = 256;  // cudaMalloc's
// A checker knows exact bounds, but needs room between two blocks to tell which one was missed.
// Without it AddressSanitizer may be there, which wants nothing of ours around a block.
std::size_t margin() {
  return hooks().allocated ? 4096 : 0;
}

}  // namespace

void* device_allocate(std::size_t bytes) {
  const std::size_t around = margin();
  void* memory = nullptr;
  ENGRAM_CHECK(posix_memalign(&memory, kAlignment, bytes + 2 * around + (bytes == 0)) == 0);
  memory = static_cast<char*>(memory) + around;
  std::memset(memory, 0xff, bytes);  // NaN as a float
  if (hooks().allocated) hooks().allocated(memory, bytes);
  return memory;
}

void device_free(void* memory) {
  if (memory == nullptr) return;
  if (hooks().freed) hooks().freed(memory);
  std::free(static_cast<char*>(memory) - margin());
}

void device_mark_written(const void* memory, std::size_t bytes) {
  if (hooks().written) hooks().written(memory, bytes);
}

void* shared_variable(const void* key, std::size_t bytes) {
  Block& b = block();
  for (const Shared& variable : b.shared) {
    if (variable.key == key) return variable.memory;
  }
  b.reporting = true;  // what follows is the machine's work, not the kernel's
  void* const memory = device_allocate(bytes);
  if (hooks().becomes_shared) hooks().becomes_shared(memory);
  b.shared.push_back({key, memory});
  b.reporting = false;
  return memory;
}

void free_shared() {
  Block& b = block();
  for (const Shared& variable : b.shared) device_free(variable.memory);
  b.shared.clear();
}

}  // namespace engram::simt
