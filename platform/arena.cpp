#include "platform/arena.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "platform/device_staging.h"

namespace engram {
namespace {

std::atomic<const DeviceMemory*> source_of_buffers = nullptr;

}  // namespace

void set_buffer_memory(const DeviceMemory* source) {
  source_of_buffers = source;
}
const DeviceMemory* buffer_memory() {
  return source_of_buffers;
}

Result<Arena> Arena::create(std::size_t bytes) {
  if (bytes == 0) return empty();
  if (const DeviceMemory* source = buffer_memory()) {
    ENGRAM_ASSIGN(void* memory, allocate_noted(*source, bytes));
    return Arena(static_cast<std::byte*>(memory), bytes, source);
  }
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, 0);
  if (memory == MAP_FAILED) {
    return Status(Code::out_of_memory,
                  fmt::format("The machine refused {} MiB of memory ({}). Nothing was changed; "
                              "choose fewer hidden units or close other programs.",
                              bytes >> 20, std::strerror(errno)));
  }
  // Huge pages make the sweeps over G cheaper; a kernel without them is no failure.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return Arena(static_cast<std::byte*>(memory), bytes);
}

Arena::Arena(Arena&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      source_(std::exchange(other.source_, nullptr)),
      used_(std::exchange(other.used_, 0)),
      sealed_(std::exchange(other.sealed_, false)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(source_, other.source_);
  std::swap(used_, other.used_);
  std::swap(sealed_, other.sealed_);
  return *this;
}

Arena::~Arena() {
  if (memory_ == nullptr) return;
  if (source_ != nullptr) {
    source_->release(memory_, size_);
  } else {
    munmap(memory_, size_);
  }
}

void* Arena::take_bytes(std::size_t bytes) {
  ENGRAM_CHECK(!sealed_);
  ENGRAM_CHECK(bytes <= size_ - used_);
  void* memory = memory_ + used_;
  used_ += bytes;
  return memory;
}

std::int64_t machine_memory() {
  std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  // The second is control groups version 1. "max" does not read as a number.
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t limit = 0;
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

std::int64_t available_memory(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string word; file >> word;) {
    if (std::int64_t kib = 0; word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace engram
