// layer_norm on the CPU: limited by memory; a row stays in the first-level cache for its three passes.
// Math, shapes and numerics: layer_norm.h.
#include "kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/simd_cpu.h"
#include "kernels/vector_math_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16384;  // elements per piece of work: about 5 microseconds

// y may be x. stats: mean and 1 / sqrt(var + epsilon).
using NormaliseRow = void(const float* x, const float* weight, const float* bias, int count,
                          float epsilon, float* y, float* stats);

ENGRAM_INLINE void normalise(const float* x, const float* weight, const float* bias, int count,
                             float epsilon, float* y, float* stats) {
  const float mean = sum_of(count, [=](int i) ENGRAM_INLINED { return x[i]; }) / float(count);
  const float squares =
      sum_of(count, [=](int i) ENGRAM_INLINED { return (x[i] - mean) * (x[i] - mean); });
  const float scale = 1.0f / std::sqrt(squares / float(count) + epsilon);
  map_row(count, y,
          [=](int i) ENGRAM_INLINED { return (x[i] - mean) * scale * weight[i] + bias[i]; });
  stats[0] = mean;
  stats[1] = scale;
}

void normalise_portable(const float* x, const float* weight, const float* bias, int count,
                        float epsilon, float* y, float* stats) {
  normalise(x, weight, bias, count, epsilon, y, stats);
}
#if defined(__x86_64__)
ENGRAM_AVX2 void normalise_avx2(const float* x, const float* weight, const float* bias, int count,
                                float epsilon, float* y, float* stats) {
  normalise(x, weight, bias, count, epsilon, y, stats);
}
#endif

}  // namespace

Status layer_norm(Stream /*stream*/, MatrixView<const float> x, MatrixView<const float> weight,
                  MatrixView<const float> bias, float epsilon, MatrixView<float> y,
                  MatrixView<float> stats) {
  ENGRAM_CHECK(x.cols >= 1 && epsilon > 0.0f);
  ENGRAM_CHECK(weight.rows == 1 && weight.cols == x.cols);
  ENGRAM_CHECK(bias.rows == 1 && bias.cols == x.cols);
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols && stats.rows == x.rows && stats.cols == 2);
  NormaliseRow* row = normalise_portable;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) row = normalise_avx2;
#endif
  parallel_for(x.rows, kGrain / x.cols + 1, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      row(x.row(r), weight.data, bias.data, x.cols, epsilon, y.row(r), stats.row(r));
    }
  });
  return Status();
}

}  // namespace engram::cpu
