// What gelu and gelu_back share on the CPU: the functions, and how they go over a matrix.
#pragma once

#include <algorithm>

#include "kernels/gelu.h"
#include "kernels/simd_cpu.h"
#include "kernels/vector_math_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {

// 2 sqrt(2 / pi) and 0.044715 of it: tanh's argument, twice, for (1 + tanh(u)) / 2 = sigmoid(2 u).
inline constexpr float kTanhLinear = 1.59576912f, kTanhCubic = 0.0713548163f;
inline constexpr float kQuick = 1.702f;

template <GeluKind kind>
ENGRAM_INLINE float gelu_of(float x) {
  if constexpr (kind == GeluKind::erf) return x * normal_of(x).below;
  if constexpr (kind == GeluKind::tanh) {
    return x * sigmoid_of(x * (kTanhLinear + kTanhCubic * x * x)).value;
  }
  if constexpr (kind == GeluKind::quick) return x * sigmoid_of(kQuick * x).value;
  if constexpr (kind == GeluKind::relu) return x < 0.0f ? 0.0f : x;
}

template <GeluKind kind>
ENGRAM_INLINE float gelu_slope_of(float x) {
  if constexpr (kind == GeluKind::erf) {
    const Normal normal = normal_of(x);
    return normal.below + x * normal.density;
  }
  if constexpr (kind == GeluKind::tanh) {
    // Beyond 20 the slope is 0 or 1, and no power of x overflows.
    const float a = std::clamp(x, -20.0f, 20.0f), square = a * a;
    const Sigmoid s = sigmoid_of(a * (kTanhLinear + kTanhCubic * square));
    return s.value + a * s.slope * (kTanhLinear + 3.0f * kTanhCubic * square);
  }
  if constexpr (kind == GeluKind::quick) {
    const Sigmoid s = sigmoid_of(kQuick * x);
    return s.value + kQuick * (x * s.slope);
  }
}

template <class Function, GeluKind kind>
ENGRAM_INLINE void gelu_row(const float* x, const float* dy, int count, float* out) {
  map_row(count, out,
          [=](int i) ENGRAM_INLINED { return Function::template of<kind>(x[i], dy[i]); });
}

using GeluRow = void(const float* x, const float* dy, int count, float* out);
template <class Function, GeluKind kind>
void gelu_row_portable(const float* x, const float* dy, int count, float* out) {
  gelu_row<Function, kind>(x, dy, count, out);
}
#if defined(__x86_64__)
template <class Function, GeluKind kind>
ENGRAM_AVX2 void gelu_row_avx2(const float* x, const float* dy, int count, float* out) {
  gelu_row<Function, kind>(x, dy, count, out);
}
#endif

template <class Function, GeluKind kind>
GeluRow* gelu_row_here() {
#if defined(__x86_64__)
  if (simd() == Simd::avx2) return gelu_row_avx2<Function, kind>;
#endif
  return gelu_row_portable<Function, kind>;
}

// out[r,i] = Function::of<kind>(x[r,i], dy[r,i]).
template <class Function>
void apply_gelu(MatrixView<const float> x, MatrixView<const float> dy, GeluKind kind,
                MatrixView<float> out) {
  constexpr int kGrain = 16384;  // elements per piece of work: about 10 microseconds
  GeluRow* const row = kind == GeluKind::erf     ? gelu_row_here<Function, GeluKind::erf>()
                       : kind == GeluKind::tanh  ? gelu_row_here<Function, GeluKind::tanh>()
                       : kind == GeluKind::quick ? gelu_row_here<Function, GeluKind::quick>()
                                                 : gelu_row_here<Function, GeluKind::relu>();
  parallel_for(x.rows, kGrain / std::max(x.cols, 1) + 1, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) row(x.row(r), dy.row(r), x.cols, out.row(r));
  });
}

}  // namespace engram::cpu
