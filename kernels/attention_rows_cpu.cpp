#include <cmath>
#include <limits>

#include "kernels/attention_cpu.h"
#include "kernels/simd_cpu.h"
#include "kernels/vector_math_cpu.h"

namespace engram::cpu {
namespace {

ENGRAM_INLINE float largest_of(const float* row, int count) {
  float lanes[kLanes];
  std::copy_n(row, kLanes, lanes);
  for (int i = kLanes; i < count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] = row[i + l] < lanes[l] ? lanes[l] : row[i + l];
  }
  for (int step = kLanes / 2; step > 0; step /= 2) {
    for (int l = 0; l < step; ++l)
      lanes[l] = lanes[l + step] < lanes[l] ? lanes[l] : lanes[l + step];
  }
  return lanes[0];
}

// The end of the last lanes takes no part: exp of it is 0.
inline int fill_lanes(float* row, int count) {
  const int whole = (count + kLanes - 1) / kLanes * kLanes;
  std::fill(row + count, row + whole, -std::numeric_limits<float>::infinity());
  return whole;
}

ENGRAM_INLINE void softmax(MatrixView<float> scores, float* sums, float* logsums) {
  for (int r = 0; r < scores.rows; ++r) {
    float* const row = scores.row(r);
    const int count = fill_lanes(row, scores.cols);
    const float largest = largest_of(row, count);
    map_row(count, row, [=](int i) ENGRAM_INLINED { return exp_of(row[i] - largest); });
    sums[r] = sum_of(count, [=](int i) ENGRAM_INLINED { return row[i]; });
    logsums[r] = largest + std::log(sums[r]);
  }
}

ENGRAM_INLINE void softmax_gradient(MatrixView<float> scores, const float* logsums,
                                    const float* inner, MatrixView<float> products) {
  for (int r = 0; r < scores.rows; ++r) {
    float *const row = scores.row(r), *const product = products.row(r);
    const int count = fill_lanes(row, scores.cols);
    std::fill(product + scores.cols, product + count, 0.0f);
    const float logsum = logsums[r], along = inner[r];
    map_row(count, row, [=](int i) ENGRAM_INLINED { return exp_of(row[i] - logsum); });
    map_row(count, product, [=](int i) ENGRAM_INLINED { return row[i] * (product[i] - along); });
  }
}

#if defined(__x86_64__)
ENGRAM_AVX2 void softmax_avx2(MatrixView<float> scores, float* sums, float* logsums) {
  softmax(scores, sums, logsums);
}
ENGRAM_AVX2 void softmax_gradient_avx2(MatrixView<float> scores, const float* logsums,
                                       const float* inner, MatrixView<float> products) {
  softmax_gradient(scores, logsums, inner, products);
}
#endif

}  // namespace

AttentionBlocks::AttentionBlocks(int tokens)
    : stride((tokens + kLanes - 1) / kLanes * kLanes),
      rows(std::min({tokens, kAttentionRows, kAttentionScores / stride})) {
  // Blocks of about the same height: a last one of a few rows would be slow for what it does.
  const int count = (tokens + rows - 1) / rows;
  rows = (tokens + count - 1) / count;
}

AttentionHead::AttentionHead(MatrixView<const float> qkv, int tokens, int heads, int index)
    : stride(qkv.stride),
      width(qkv.cols / 3 / heads),
      top(index / heads * tokens),
      left(index % heads * width) {
  q = qkv.row(top) + left;
  k = q + qkv.cols / 3;
  v = k + qkv.cols / 3;
}

void softmax_rows(MatrixView<float> scores, float* sums, float* logsums) {
#if defined(__x86_64__)
  if (simd() == Simd::avx2) return softmax_avx2(scores, sums, logsums);
#endif
  softmax(scores, sums, logsums);
}

void softmax_gradient_rows(MatrixView<float> scores, const float* logsums, const float* inner,
                           MatrixView<float> products) {
#if defined(__x86_64__)
  if (simd() == Simd::avx2) return softmax_gradient_avx2(scores, logsums, inner, products);
#endif
  softmax_gradient(scores, logsums, inner, products);
}

}  // namespace engram::cpu
