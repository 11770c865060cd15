// Weighted sums of float or byte rows on the GPU: what `project` and `combine_rows` share.
//
//     sum[r] = sum over n of left[first + r, n] * right[n, m]        r < kSumRows
//
// A thread owns column m of `right` and reads it once for kSumRows rows of `left`; neighbouring
// threads read neighbouring columns, and all of them the same numbers of `left`. Sums of 128 rows are
// added up, so that the rounding of long sums grows slowly; in the same order every time.
#pragma once

#include "platform/launch.h"
#include "platform/matrix_view.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kSumThreads = 128;
constexpr int kSumRows = 8;
constexpr int kSumPart = 128;

template <class Element>
__device__ __forceinline__ void column_sums(MatrixView<const float> left, int first,
                                            const Element* right, std::ptrdiff_t stride, int m,
                                            float (&sum)[kSumRows]) {
  for (int part_begin = 0; part_begin < left.cols; part_begin += kSumPart) {
    const int part_end = min(part_begin + kSumPart, left.cols);
    float part[kSumRows] = {};
#pragma unroll 4
    for (int n = part_begin; n < part_end; ++n) {
      const auto value = static_cast<float>(right[stride * n + m]);
#pragma unroll
      for (int r = 0; r < kSumRows; ++r) {  // rows that are not there repeat the last
        part[r] = fmaf(left(min(first + r, left.rows - 1), n), value, part[r]);
      }
    }
#pragma unroll
    for (int r = 0; r < kSumRows; ++r) sum[r] += part[r];
  }
}

// grid (ceil(M / 128), ceil(rows / 8)), block (128).
inline Geometry column_sums_geometry(int rows, int cols) {
  return {dim3(static_cast<unsigned>(divide_up(cols, kSumThreads)),
               static_cast<unsigned>(divide_up(rows, kSumRows))),
          dim3(kSumThreads)};
}

}  // namespace
}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
