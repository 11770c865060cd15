// The words of platform/simt.h that CUDA has no name for: on a GPU each is one instruction.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#define ENGRAM_SHARED(type, name, ...) __shared__ __align__(16) type name __VA_ARGS__

// nvcc reads device functions for the host as well, which knows no PTX.
#if defined(__CUDA_ARCH__)
#define ENGRAM_PTX(...) __VA_ARGS__
#else
#define ENGRAM_PTX(...)
#endif

namespace engram::cuda {

template <class Vector, class T>
__device__ __forceinline__ Vector load_vector(const T* from) {
  return *reinterpret_cast<const Vector*>(from);
}
template <class Vector, class T>
__device__ __forceinline__ void store_vector(T* to, Vector value) {
  *reinterpret_cast<Vector*>(to) = value;
}

__device__ __forceinline__ std::int32_t dot_bytes(std::uint32_t a, std::int32_t b,
                                                  std::int32_t sum) {
  ENGRAM_PTX(asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));)
  return sum;
}
__device__ __forceinline__ std::uint32_t dot_bytes(std::uint32_t a, std::uint32_t b,
                                                   std::uint32_t sum) {
  ENGRAM_PTX(asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));)
  return sum;
}

__device__ __forceinline__ std::uint32_t pack_halves(float low, float high) {
  std::uint32_t word = 0;
  ENGRAM_PTX(asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));)
  return word;
}

#define ENGRAM_MMA(instruction, constraint, d, a, b)                                          \
  ENGRAM_PTX(asm volatile("mma.sync.aligned." instruction                                     \
                          " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"            \
                          : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), \
                            "+" constraint(d[3])                                              \
                          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));)

// clang-format off: it takes a macro without a semicolon for the head of a function.
__device__ __forceinline__ void mma_f16(float (&d)[4], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]){
    ENGRAM_MMA("m16n8k16.row.col.f32.f16.f16.f32", "f", d, a, b)} __device__ __forceinline__
    void mma_u8s8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]){
        ENGRAM_MMA("m16n8k32.row.col.s32.u8.s8.s32", "r", d, a, b)} __device__ __forceinline__
    void mma_u8u8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  ENGRAM_MMA("m16n8k32.row.col.s32.u8.u8.s32", "r", d, a, b)
}
// clang-format on
#undef ENGRAM_MMA

}  // namespace engram::cuda
