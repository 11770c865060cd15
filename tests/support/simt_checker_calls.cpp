// The calls that the compiler puts into code built with -fsanitize=thread.
#include <cstdint>

#include "tests/support/simt_checker.h"

namespace {

using engram::test::AccessKind;
using engram::test::check_access;

}  // namespace

#define CODE __builtin_return_address(0)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ACCESSES(bytes)                              \
  void __tsan_read##bytes(void* p) {                 \
    check_access(p, bytes, AccessKind::read, CODE);  \
  }                                                  \
  void __tsan_write##bytes(void* p) {                \
    check_access(p, bytes, AccessKind::write, CODE); \
  }                                                  \
  void __tsan_unaligned_read##bytes(void* p) {       \
    check_access(p, bytes, AccessKind::read, CODE);  \
  }                                                  \
  void __tsan_unaligned_write##bytes(void* p) {      \
    check_access(p, bytes, AccessKind::write, CODE); \
  }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) {
  check_access(p, bytes, AccessKind::read, CODE);
}
void __tsan_write_range(void* p, unsigned long bytes) {
  check_access(p, bytes, AccessKind::write, CODE);
}

void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  check_access(from, bytes, AccessKind::read, CODE);
  check_access(to, bytes, AccessKind::write, CODE);
  return __builtin_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  check_access(from, bytes, AccessKind::read, CODE);
  check_access(to, bytes, AccessKind::write, CODE);
  return __builtin_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  check_access(to, bytes, AccessKind::write, CODE);
  return __builtin_memset(to, value, bytes);
}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

#define ATOMICS(bits)                                                                             \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* p, int) {    \
    check_access(const_cast<const std::uint##bits##_t*>(p), bits / 8, AccessKind::atomic, CODE);  \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                  \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* p, std::uint##bits##_t v, int) { \
    check_access(const_cast<std::uint##bits##_t*>(p), bits / 8, AccessKind::atomic, CODE);        \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                               \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile std::uint##bits##_t* p,            \
                                                      std::uint##bits##_t v, int) {               \
    check_access(const_cast<std::uint##bits##_t*>(p), bits / 8, AccessKind::atomic, CODE);        \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(                                              \
      volatile std::uint##bits##_t* p, std::uint##bits##_t* e, std::uint##bits##_t v, int, int) { \
    check_access(const_cast<std::uint##bits##_t*>(p), bits / 8, AccessKind::atomic, CODE);        \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
  }
ATOMICS(8)
ATOMICS(32)
ATOMICS(64)
void __tsan_atomic_thread_fence(int) {}
}
