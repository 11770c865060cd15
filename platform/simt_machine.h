// The emulated machine, as launch(), the words of simt.h and the tests see it.
//
// Blocks run one after another, the threads of a block as fibers that change only where they meet:
// at barriers and warp collectives. So a run is deterministic, and which thread goes first is ours
// to choose: a kernel that forgets a barrier gives wrong answers in at least one order.
//
// Misuse ends the launch with a Status that names the kernel's file and line: threads at different
// barriers, a barrier that some threads left out, a shuffle from a lane that takes no part, a
// misaligned vector access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "platform/simt_types.h"
#include "platform/status.h"

namespace engram::simt {

enum class Order : std::uint8_t { forward, reverse, random };  // of the threads, and of the blocks

// How the float tensor cores add. Which way a real one does is not documented; whole numbers below
// 2^24 must come out the same in all of them.
enum class TensorSum : std::uint8_t {
  fused,       // exactly, rounded once
  sequential,  // product after product, rounded to nearest
  truncating,  // aligned to the largest, what sticks out below is cut off
};

struct Options {
  Order order = Order::forward;
  unsigned seed = 1;  // of the random order
  TensorSum tensor_sum = TensorSum::fused;
};
Options& options();  // read at each launch

// Where in a kernel's text something was called: as a default argument, the caller's place.
struct Place {
  const char* file;
  int line;
  constexpr Place(const char* f = __builtin_FILE(), int l = __builtin_LINE()) : file(f), line(l) {}
};

// What a thread knows of itself.
struct Thread {
  uint3 index, block;
  dim3 block_size, grid_size;
  unsigned linear, lane, warp;  // in its block, in its warp, of its block
};
inline constinit thread_local Thread* running = nullptr;

// ---- launches ---------------------------------------------------------------------------------
struct Launch {
  dim3 grid, block;
  void (*body)(const void* arguments);
  const void* arguments;
  std::size_t arguments_bytes;
  void (*visit_pointers)(const void* arguments, void (*visit)(const void* pointer));
};
Status run(const Launch& launch);

// ---- where threads meet -----------------------------------------------------------------------
enum class Vote : std::uint8_t { none, count, all, any };
int barrier(const char* name, Vote vote, bool predicate, Place place);

// A warp collective: every lane of the mask brings its input, and when the last has come, `combine`
// computes all the outputs.
struct Lane {
  alignas(8) unsigned char in[48];
  alignas(8) unsigned char out[16];
};
using Combine = void(Lane* lanes, unsigned mask, std::string& error);
Lane& meet(const char* name, unsigned mask, const void* in, std::size_t bytes, Combine* combine,
           Place place);

[[noreturn]] void fail(const char* what, Place place);  // ends the launch

// ---- memory -----------------------------------------------------------------------------------
// Device memory: exact blocks from the heap, filled with NaN, each known to a checker by its bounds.
void* device_allocate(std::size_t bytes);
void device_free(void* memory);
void device_mark_written(const void* memory, std::size_t bytes);  // by a copy from the host

// Shared memory of the running block: one block of device memory per variable.
void* shared_variable(const void* key, std::size_t bytes);

}  // namespace engram::simt
