// What compute-sanitizer does on a GPU, for the emulator: each load and store of a kernel judged.
//
//   race            two threads, at least one writes, and no barrier between them
//   out of bounds   outside of every block of device or shared memory; another thread's variables
//   uninitialised   a read of what nobody has written
//
// (Barriers that threads miss or mix up are found by the emulator itself.) The kernels are compiled
// with -fsanitize=thread, so that the compiler calls __tsan_read4(address) and the like, but linked
// with these files instead of ThreadSanitizer, whose rules are not CUDA's: between barriers of a
// block nothing is ordered, lanes of a warp only by __syncwarp, blocks of a launch not at all.
//
// A finding ends up in the Status of the launch, with the lines of both accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace engram::test {

enum class AccessKind : std::uint8_t { read, write, atomic };

// One access by the running thread; `code` is where in the program.
void check_access(const void* address, std::size_t bytes, AccessKind kind, const void* code);

// "sign_project.cu:123", innermost line that is the kernel's own.
std::string source_line(const void* code);

}  // namespace engram::test
