// The sum of a number of every lane of a warp, in the same order every time, in every lane.
#pragma once

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
