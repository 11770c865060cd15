#include "tests/support/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <link.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define ENGRAM_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ENGRAM_TEST_SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(ENGRAM_TEST_SANITIZED)

namespace {

std::atomic<long> count{0};
std::atomic<std::uintptr_t> blas_begin{0}, blas_end{0};  // OpenBLAS's code

thread_local long until_failure = 0;
thread_local std::size_t least_bytes = 0;  // of those that may fail
thread_local bool has_failed = false;

// False: this allocation is to fail.
bool note(const void* caller, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const bool blas = address >= blas_begin.load(std::memory_order_relaxed) &&
                    address < blas_end.load(std::memory_order_relaxed);
  if (blas) return true;
  count.fetch_add(1, std::memory_order_relaxed);
  if (until_failure == 0 || bytes < least_bytes || --until_failure > 0) return true;
  has_failed = true;
  return false;
}

int find_blas(dl_phdr_info* library, std::size_t, void*) {
  if (std::strstr(library->dlpi_name, "openblas") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    blas_begin = library->dlpi_addr + part.p_vaddr;
    blas_end = library->dlpi_addr + part.p_vaddr + part.p_memsz;
  }
  return 1;
}

}  // namespace

// The executable's own definitions come before the C library's, for all shared libraries too.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  if (!note(__builtin_return_address(0), size)) return nullptr;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  if (!note(__builtin_return_address(0), number * size)) return nullptr;
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  if (!note(__builtin_return_address(0), size)) return nullptr;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (!note(__builtin_return_address(0), size)) return nullptr;
  return __libc_memalign(alignment, size);
}
}

namespace engram::test {
bool counts_allocations() {
  dl_iterate_phdr(find_blas, nullptr);
  return true;
}
long allocations() {
  return count.load();
}
bool fail_allocation(long n, std::size_t at_least) {
  until_failure = n;
  least_bytes = at_least;
  return std::exchange(has_failed, false);
}
}  // namespace engram::test

#else

namespace engram::test {
bool counts_allocations() {
  return false;
}
long allocations() {
  return 0;
}
bool fail_allocation(long, std::size_t) {
  return false;
}
}  // namespace engram::test

#endif
