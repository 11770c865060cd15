// layer_norm_back on the CPU: limited by memory; rows stay in the first-level cache for their two passes.
// Math, shapes and numerics: layer_norm_back.h.
#include "kernels/layer_norm_back.h"

#include <algorithm>

#include "kernels/simd_cpu.h"
#include "kernels/vector_math_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16384;  // elements per piece of work: about 5 microseconds

struct Row {
  const float *dy, *x, *weight, *stats;
  int count;
  float* dx;
};
using BackRow = void(const Row& row);

template <bool add>
ENGRAM_INLINE void back(const Row& row) {
  const float *const dy = row.dy, *const x = row.x, *const weight = row.weight;
  const float mean = row.stats[0], scale = row.stats[1], share = 1.0f / float(row.count);
  const float sum = sum_of(row.count, [=](int i) ENGRAM_INLINED { return dy[i] * weight[i]; });
  const float along = sum_of(
      row.count, [=](int i) ENGRAM_INLINED { return dy[i] * weight[i] * ((x[i] - mean) * scale); });
  const float common = sum * share, slope = along * share;
  float* const dx = row.dx;
  map_row(row.count, dx, [=](int i) ENGRAM_INLINED {
    const float value = scale * (dy[i] * weight[i] - common - (x[i] - mean) * scale * slope);
    return add ? dx[i] + value : value;
  });
}

template <bool add>
void back_portable(const Row& row) {
  back<add>(row);
}
#if defined(__x86_64__)
template <bool add>
ENGRAM_AVX2 void back_avx2(const Row& row) {
  back<add>(row);
}
#endif

}  // namespace

Status layer_norm_back(Stream /*stream*/, MatrixView<const float> dy, MatrixView<const float> x,
                       MatrixView<const float> weight, MatrixView<const float> stats, bool add,
                       MatrixView<float> dx) {
  ENGRAM_CHECK(x.cols >= 1 && weight.rows == 1 && weight.cols == x.cols);
  ENGRAM_CHECK(dy.rows == x.rows && dy.cols == x.cols && stats.rows == x.rows && stats.cols == 2);
  ENGRAM_CHECK(dx.rows == x.rows && dx.cols == x.cols);
  BackRow* row = add ? back_portable<true> : back_portable<false>;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) row = add ? back_avx2<true> : back_avx2<false>;
#endif
  parallel_for(x.rows, kGrain / x.cols + 1, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      row({dy.row(r), x.row(r), weight.data, stats.row(r), x.cols, dx.row(r)});
    }
  });
  return Status();
}

}  // namespace engram::cpu
