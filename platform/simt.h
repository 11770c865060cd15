// CUDA's words for the host compiler, so that a .cu file compiles as plain C++ and runs thread by
// thread on the CPU: the backend `simt`, by which kernels are tested on machines without a GPU.
//
// Here: what a kernel is made of. simt_warp.h: what a warp does together. simt_machine.h: the
// machine that runs it all. The same words for nvcc, where CUDA has none: device_words_cuda.h.
//
// Not emulated: memory ordering weaker than program order, timing, asynchronous copies, clusters.
// What is emulated is exact, to the bit.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "platform/simt_machine.h"
#include "platform/simt_types.h"
#include "platform/simt_warp.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define threadIdx (::engram::simt::running->index)
#define blockIdx (::engram::simt::running->block)
#define blockDim (::engram::simt::running->block_size)
#define gridDim (::engram::simt::running->grid_size)

// ENGRAM_SHARED(float, tile, [16][64]); is `__shared__ float tile[16][64];`, new for each block.
#define ENGRAM_SHARED(type, name, ...)                                            \
  using name##_shared_type = type __VA_ARGS__;                                    \
  auto& name = *static_cast<name##_shared_type*>(::engram::simt::shared_variable( \
      &::engram::simt::SharedKey<decltype([] {})>::key, sizeof(name##_shared_type)))

namespace engram::simt {

template <class Unique>
struct SharedKey {
  static inline char key = 0;
};

// ---- vector accesses: one 8- or 16-byte transaction per lane, at an aligned address ---------------
template <class Vector, class T>
Vector load_vector(const T* from, Place here = {}) {
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(Vector) != 0) {
    fail("a misaligned vector load", here);
  }
  return *reinterpret_cast<const Vector*>(from);
}
template <class Vector, class T>
void store_vector(T* to, Vector value, Place here = {}) {
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector) != 0) {
    fail("a misaligned vector store", here);
  }
  *reinterpret_cast<Vector*>(to) = value;
}

// ---- arithmetic ---------------------------------------------------------------------------------
using std::max;
using std::min;

// sum + the four products of unsigned bytes of a and signed (or unsigned) bytes of b.
inline std::int32_t dot_bytes(std::uint32_t a, std::int32_t b, std::int32_t sum) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::uint8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
  }
  return sum;
}
inline std::uint32_t dot_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<std::uint32_t>(static_cast<std::uint8_t>(a >> 8 * i)) *
           static_cast<std::uint8_t>(b >> 8 * i);
  }
  return sum;
}

}  // namespace engram::simt

// ---- CUDA's own functions -------------------------------------------------------------------------
inline void __syncthreads(engram::simt::Place here = {}) {
  engram::simt::barrier("__syncthreads", engram::simt::Vote::none, false, here);
}
inline int __syncthreads_count(int predicate, engram::simt::Place here = {}) {
  return engram::simt::barrier("__syncthreads_count", engram::simt::Vote::count, predicate, here);
}
inline int __syncthreads_and(int predicate, engram::simt::Place here = {}) {
  return engram::simt::barrier("__syncthreads_and", engram::simt::Vote::all, predicate, here);
}
inline int __syncthreads_or(int predicate, engram::simt::Place here = {}) {
  return engram::simt::barrier("__syncthreads_or", engram::simt::Vote::any, predicate, here);
}
[[noreturn]] inline void __trap(engram::simt::Place here = {}) {
  engram::simt::fail("__trap", here);
}

inline int __float2int_rn(float value) {
  return static_cast<int>(std::nearbyint(value));
}
// Byte i of the result is byte (select >> 4i & 7) of the eight bytes of a, then b.
inline std::uint32_t __byte_perm(std::uint32_t a, std::uint32_t b, std::uint32_t select) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(bytes >> 8 * (select >> 4 * i & 7u) & 0xffu) << 8 * i;
  }
  return result;
}

// Relaxed, as CUDA's are. Returns what was there before.
template <class T>
T atomicAdd(T* place, T value) {
  return std::atomic_ref<T>(*place).fetch_add(value, std::memory_order_relaxed);
}
