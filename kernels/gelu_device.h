// What gelu and gelu_back share on the GPU. Tails come from the side where e^ is small.
#pragma once

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

// 2 sqrt(2 / pi) and 0.044715 of it: tanh's argument, twice, for (1 + tanh(u)) / 2 = sigmoid(2 u).
constexpr float kTanhLinear = 1.59576912f, kTanhCubic = 0.0713548163f;
constexpr float kQuick = 1.702f;

__device__ __forceinline__ float tanh_exponent(float x) {
  return x * fmaf(kTanhCubic * x, x, kTanhLinear);
}

// The share of the normal distribution below x.
__device__ __forceinline__ float normal_below(float x) {
  return 0.5f * erfcf(-0.707106781f * x);
}

struct Sigmoid {
  float value;  // 1 / (1 + e^-x)
  float slope;  // its derivative, value (1 - value)
};
__device__ __forceinline__ Sigmoid sigmoid(float x) {
  const float e = expf(x < 0.0f ? x : -x), share = 1.0f / (1.0f + e);
  return {(x < 0.0f ? e : 1.0f) * share, e * share * share};
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
