// What a checker or a test may watch. All pointers are null unless one sets them.
//
// For the checker (tests/support/simt_checker.cpp) kernels are compiled with -fsanitize=thread, so
// that the compiler reports each load and store, but linked with it instead of ThreadSanitizer: it
// judges by CUDA's rules.
#pragma once

#include <cstddef>
#include <string>

#include "platform/simt_machine.h"

namespace engram::simt {

struct Hooks {
  // `launch.arguments` begin with the kernel's address (platform/launch.h).
  void (*launched)(const Launch& launch) = nullptr;
  void (*launch_begins)() = nullptr;
  std::string (*launch_ends)() = nullptr;  // what was found, or nothing
  void (*block_begins)(unsigned block, unsigned threads) = nullptr;
  void (*barrier)() = nullptr;
  void (*warp_sync)(unsigned warp, unsigned mask) = nullptr;
  void (*collective)(const char* name) = nullptr;  // of a warp: "mma_f16"
  void (*allocated)(const void* memory, std::size_t bytes) = nullptr;
  void (*becomes_shared)(const void* memory) = nullptr;
  void (*written)(const void* memory, std::size_t bytes) = nullptr;
  void (*freed)(const void* memory) = nullptr;
};
Hooks& hooks();

// For the checker: is a kernel's own code running, and whose memory is this?
bool in_kernel();
bool own_stack(const void* address);
bool machine_memory(
    const void* address);  // kernel arguments, thread indices, lanes of a collective

}  // namespace engram::simt
