#include "platform/blas_memory.h"

#include <algorithm>
#include <vector>

#include <sys/mman.h>

#include <fmt/format.h>

#include "platform/threads.h"

extern "C" {
// A buffer from OpenBLAS's table, and back into it. In none of its headers, so that another build may lack
// them: null then.
[[gnu::weak]] void* blas_memory_alloc(int unused);
[[gnu::weak]] void blas_memory_free(void* buffer);
}

namespace engram {
namespace {

constexpr std::size_t kBlasBuffer = 128 << 20;  // 32 or 128 MB, by its version and the processor
constexpr int kBesideThePool = 2;               // the camera app learns and judges while it looks
constexpr int kMostBuffers = 64;  // its table holds twice the threads it was built for

}  // namespace

// As OpenBLAS asks, but for two: the thread that it starts by itself may not have taken its own yet.
bool blas_finds_memory() {
  constexpr std::size_t kRoom = 2 * kBlasBuffer;
  void* const room =
      ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, kRoom);
  return true;
}

Status reserve_blas_memory() {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return {};
  const int wanted = std::min(thread_count() + kBesideThePool, kMostBuffers);
  std::vector<void*> buffers;
  buffers.reserve(static_cast<std::size_t>(wanted));
  while (std::ssize(buffers) < wanted && blas_finds_memory()) {
    buffers.push_back(blas_memory_alloc(0));
  }
  const bool has_all = std::ssize(buffers) == wanted;
  for (void* const buffer : buffers) blas_memory_free(buffer);  // OpenBLAS keeps it for the next
  if (has_all) return {};
  return Status(Code::out_of_memory,
                fmt::format("not enough memory: {} threads need {} MB of address space. "
                            "Nothing was done. Raise the limit (ulimit -v), close other programs "
                            "or take fewer threads (--threads 1).",
                            thread_count(), (wanted + 1) * (kBlasBuffer >> 20)));
}

}  // namespace engram
