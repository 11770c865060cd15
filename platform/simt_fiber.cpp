// Fibers on x86_64 and aarch64: the change of stacks is the one piece of assembly in the project.
#include "platform/simt_fiber.h"

#include <pthread.h>

#include "platform/status.h"

#if defined(__SANITIZE_ADDRESS__)
#define ENGRAM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ENGRAM_ASAN 1
#endif
#endif
#if defined(ENGRAM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Pushes what the caller's caller expects to find again, stores the stack pointer in *save, takes
// `to` for the stack pointer and pops the same from there.
extern "C" void engram_simt_change(void** save, void* to);

#if defined(__x86_64__)
asm(R"(
.text
.globl engram_simt_change
.type engram_simt_change,@function
engram_simt_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %r8
  jmp *%r8
.size engram_simt_change,.-engram_simt_change
)");
static void* first_frame(char* top, void (*entry)()) {
  void** slot = reinterpret_cast<void**>(top);
  *--slot = nullptr;  // as if called: the stack pointer is 8 modulo 16 at an entry
  *--slot = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--slot = nullptr;
  return slot;
}
#elif defined(__aarch64__)
asm(R"(
.text
.globl engram_simt_change
.type engram_simt_change,%function
engram_simt_change:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8,  d9,  [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8,  d9,  [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size engram_simt_change,.-engram_simt_change
)");
static void* first_frame(char* top, void (*entry)()) {
  void** slots = reinterpret_cast<void**>(top - 160);
  for (int i = 0; i < 20; ++i) slots[i] = nullptr;
  slots[11] = reinterpret_cast<void*>(entry);  // x30, where `ret` goes
  return slots;
}
#else
#error "engram_simt_change is written for x86_64 and aarch64"
#endif

namespace engram::simt {

void Fiber::start(char* stack, void (*entry)()) {
  bottom_ = stack;
  bytes_ = kStackBytes;
  fake_stack_ = nullptr;
#if defined(ENGRAM_ASAN)
  __asan_unpoison_memory_region(stack, kStackBytes);  // what an abandoned fiber left behind
#endif
  stack_pointer_ = first_frame(stack + kStackBytes, entry);
}

void Fiber::adopt_caller() {
  if (bottom_ != nullptr) return;
  pthread_attr_t attributes;
  void* stack = nullptr;
  ENGRAM_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  ENGRAM_CHECK(pthread_attr_getstack(&attributes, &stack, &bytes_) == 0);
  pthread_attr_destroy(&attributes);
  bottom_ = static_cast<const char*>(stack);
}

void Fiber::change(Fiber& from, Fiber& to, [[maybe_unused]] bool for_good) {
#if defined(ENGRAM_ASAN)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.fake_stack_, to.bottom_, to.bytes_);
#endif
  engram_simt_change(&from.stack_pointer_, to.stack_pointer_);
#if defined(ENGRAM_ASAN)
  __sanitizer_finish_switch_fiber(from.fake_stack_, nullptr, nullptr);
#endif
}

void Fiber::begin() {
#if defined(ENGRAM_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace engram::simt
