// Weighted sums of float or byte rows on the GPU: what `project` and `combine_rows` share.
//
//     sum[r][c] = sum over n of left[first + r, n] * right[n, m + 128 c]     r < 8, c < 2
//
// A thread owns two columns of `right` and reads them once for eight rows of `left`; neighbouring
// threads read neighbouring columns, and all of them the same numbers of `left`. Sums of 128 rows are
// added up, so that the rounding of long sums grows slowly; in the same order every time.
#pragma once

#include "platform/launch.h"
#include "platform/matrix_view.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kSumThreads = 128;
constexpr int kSumRows = 8;
constexpr int kSumCols = 2;
constexpr int kSumPart = 128;

using ColumnSums = float[kSumRows][kSumCols];

// Rows and columns that are not there repeat the last.
template <class Element>
__device__ __forceinline__ void column_sums(MatrixView<const float> left, int first,
                                            const Element* right, std::ptrdiff_t stride, int cols,
                                            int m, ColumnSums& sum) {
  for (int part_begin = 0; part_begin < left.cols; part_begin += kSumPart) {
    const int part_end = min(part_begin + kSumPart, left.cols);
    ColumnSums part = {};
#pragma unroll 4
    for (int n = part_begin; n < part_end; ++n) {
      float value[kSumCols];
#pragma unroll
      for (int c = 0; c < kSumCols; ++c) {
        value[c] = static_cast<float>(right[stride * n + min(m + kSumThreads * c, cols - 1)]);
      }
#pragma unroll
      for (int r = 0; r < kSumRows; ++r) {
        const float weight = left(min(first + r, left.rows - 1), n);
#pragma unroll
        for (int c = 0; c < kSumCols; ++c) part[r][c] = fmaf(weight, value[c], part[r][c]);
      }
    }
#pragma unroll
    for (int i = 0; i < kSumRows * kSumCols; ++i) {
      sum[i / kSumCols][i % kSumCols] += part[i / kSumCols][i % kSumCols];
    }
  }
}

// A thread's first column.
__device__ __forceinline__ int column_of_thread() {
  return static_cast<int>(blockIdx.x) * kSumThreads * kSumCols + static_cast<int>(threadIdx.x);
}

// grid (ceil(M / 256), ceil(rows / 8)), block (128).
inline Geometry column_sums_geometry(int rows, int cols) {
  return {dim3(static_cast<unsigned>(divide_up(cols, kSumThreads * kSumCols)),
               static_cast<unsigned>(divide_up(rows, kSumRows))),
          dim3(kSumThreads)};
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
