// What a warp does together, lane by lane and to the bit. Included by simt.h.
//
// The tensor cores' fragments (which lane holds which elements) are those of the PTX manual,
// "Matrix Fragments for mma": with g = lane / 4 and t = lane % 4, a register d[r] holds row
// g + 8 (r / 2), column 2 t + r % 2 of the 16 x 8 result.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "platform/half.h"
#include "platform/simt_machine.h"

namespace engram::simt {

enum class Shuffle : std::uint8_t { from_lane, up, down, exchange };
struct ShuffleInput {
  std::uint64_t value;
  Shuffle kind;
  int argument, width;
};
struct MmaInput {
  std::uint32_t c[4], a[4], b[2];
};
Combine combine_shuffle, combine_ballot, combine_sum;         // simt_warp.cpp
Combine combine_mma_f16, combine_mma_u8s8, combine_mma_u8u8;  // simt_mma.cpp

// To the nearest half, ties to even; of NaN the one that PTX's cvt gives.
inline std::uint16_t half_bits(float value) {
  return std::isnan(value) ? std::uint16_t{0x7fff} : to_half(value);
}

template <class Out, class In>
Out meet_for(const char* name, unsigned mask, const In& in, Combine* combine, Place place) {
  static_assert(sizeof(In) <= sizeof Lane::in && sizeof(Out) <= sizeof Lane::out);
  Out out;
  std::memcpy(&out, meet(name, mask, &in, sizeof in, combine, place).out, sizeof out);
  return out;
}
template <class T>
T shuffle(const char* name, unsigned mask, T value, Shuffle kind, int argument, int width,
          Place place) {
  ShuffleInput in{0, kind, argument, width};
  std::memcpy(&in.value, &value, sizeof value);
  return meet_for<T>(name, mask, in, combine_shuffle, place);
}
template <class T>
void mma(const char* name, T (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
         Combine* combine, Place place) {
  MmaInput in;
  std::memcpy(in.c, d, sizeof in.c);
  std::memcpy(in.a, a, sizeof in.a);
  std::memcpy(in.b, b, sizeof in.b);
  std::memcpy(d, meet(name, ~0u, &in, sizeof in, combine, place).out, sizeof in.c);
}

// ---- tensor cores: d[16 x 8] += a[16 x K] b[K x 8] ------------------------------------------------
inline void mma_f16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                    Place here = {}) {  // K = 16
  mma("mma_f16", d, a, b, combine_mma_f16, here);
}
inline void mma_u8s8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                     Place here = {}) {  // K = 32
  mma("mma_u8s8", d, a, b, combine_mma_u8s8, here);
}
inline void mma_u8u8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                     Place here = {}) {  // K = 32
  mma("mma_u8u8", d, a, b, combine_mma_u8u8, here);
}
// Two floats as the halves of a word.
inline std::uint32_t pack_halves(float low, float high) {
  return half_bits(low) | std::uint32_t{half_bits(high)} << 16;
}

}  // namespace engram::simt

// ---- shuffles, votes and sums -----------------------------------------------------------------------
inline void __syncwarp(unsigned mask = ~0u, engram::simt::Place here = {}) {
  engram::simt::meet("__syncwarp", mask, nullptr, 0, nullptr, here);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, engram::simt::Place here = {}) {
  return engram::simt::shuffle("__shfl_sync", mask, value, engram::simt::Shuffle::from_lane, lane,
                               width, here);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 engram::simt::Place here = {}) {
  return engram::simt::shuffle("__shfl_up_sync", mask, value, engram::simt::Shuffle::up,
                               static_cast<int>(delta), width, here);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   engram::simt::Place here = {}) {
  return engram::simt::shuffle("__shfl_down_sync", mask, value, engram::simt::Shuffle::down,
                               static_cast<int>(delta), width, here);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  engram::simt::Place here = {}) {
  return engram::simt::shuffle("__shfl_xor_sync", mask, value, engram::simt::Shuffle::exchange,
                               lane_mask, width, here);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, engram::simt::Place here = {}) {
  return engram::simt::meet_for<unsigned>("__ballot_sync", mask, predicate,
                                          engram::simt::combine_ballot, here);
}
inline int __any_sync(unsigned mask, int predicate, engram::simt::Place here = {}) {
  return __ballot_sync(mask, predicate, here) != 0;
}
inline int __all_sync(unsigned mask, int predicate, engram::simt::Place here = {}) {
  return __ballot_sync(mask, predicate, here) == mask;
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value, engram::simt::Place here = {}) {
  return engram::simt::meet_for<unsigned>("__reduce_add_sync", mask, value,
                                          engram::simt::combine_sum, here);
}
