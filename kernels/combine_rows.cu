// combine_rows on the GPU: limited by reading the kept samples, once for eight sums. Math, shapes
// and numerics: combine_rows.h.
#include "kernels/combine_rows.h"

#include "kernels/column_sums_device.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

template <class Element>
__global__ void __launch_bounds__(kSumThreads)
    combine_rows_kernel(MatrixView<const float> weights, const Element* kept,
                        MatrixView<float> sums) {
  const int m = column_of_thread(), first = static_cast<int>(blockIdx.y) * kSumRows;
  if (m >= sums.cols) return;
  ColumnSums sum = {};
  column_sums(weights, first, kept, sums.cols, sums.cols, m, sum);
#pragma unroll
  for (int i = 0; i < kSumRows * kSumCols; ++i) {
    const int r = i / kSumCols, c = i % kSumCols, col = m + kSumThreads * c;
    if (first + r < sums.rows && col < sums.cols) sums(first + r, col) += sum[r][c];
  }
}

}  // namespace

Status combine_rows(Stream stream, MatrixView<const float> weights, KeptView kept,
                    MatrixView<float> sums) {
  ENGRAM_CHECK(weights.cols == kept.rows);
  ENGRAM_CHECK(sums.rows == weights.rows && sums.cols == kept.cols);
  if (sums.rows == 0 || sums.cols == 0 || kept.rows == 0) return Status();
  const Geometry geometry = column_sums_geometry(sums.rows, sums.cols);
  if (kept.bytes != nullptr) {
    return launch(combine_rows_kernel<std::uint8_t>, geometry, stream, weights, kept.bytes, sums);
  }
  return launch(combine_rows_kernel<float>, geometry, stream, weights, kept.floats, sums);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
