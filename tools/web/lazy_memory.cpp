#include "tools/web/lazy_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace engram {
namespace {

constexpr std::size_t kLarge = 128 * 1024;  // below, a page here and there is not worth a call

// Whole pages between the ends, where the heap keeps its notes. A refusal changes nothing for us.
void advise(std::string& text, int advice) {
  if (text.capacity() < kLarge) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(text.data());
  const std::uintptr_t first =
      (begin + page) / page * page;  // the first byte stays: it ends the text
  const std::uintptr_t last = (begin + text.capacity()) / page * page;
  if (last > first) ::madvise(reinterpret_cast<void*>(first), last - first, advice);
}

}  // namespace

void reserve_lazily(std::string& text, std::size_t bytes) {
  text.reserve(bytes);
  advise(text, MADV_NOHUGEPAGE);  // or the first byte would take two megabytes
}

void release(std::string& text) {
  text.clear();
  advise(text, MADV_DONTNEED);
  std::string().swap(text);
}

}  // namespace engram
