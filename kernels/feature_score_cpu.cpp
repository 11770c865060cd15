// feature_score on the CPU: features made floats, a piece at a time, for a matrix product. Math and
// shapes: feature_score.h.
#include "kernels/feature_score.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"

namespace engram::cpu {

Status feature_score(Stream /*stream*/, MatrixView<const std::int8_t> q,
                     MatrixView<const float> weights, MatrixView<float> s) {
  ENGRAM_CHECK(q.cols == weights.cols);
  ENGRAM_CHECK(s.rows == q.rows && s.cols == weights.rows);
  constexpr int kRows = 32, kFeatures = 2048;  // 256 KiB
  float tile[kRows * kFeatures];
  for (int first = 0; first < q.rows; first += kRows) {
    const int rows = std::min(kRows, q.rows - first);
    for (int from = 0; from < q.cols; from += kFeatures) {
      const int features = std::min(kFeatures, q.cols - from);
      for (int b = 0; b < rows; ++b) {
        const std::int8_t* const row = q.row(first + b) + from;
        for (int l = 0; l < features; ++l) tile[b * features + l] = float(row[l]);
      }
      multiply(1.0f, plain({tile, rows, features, features}),
               turned({weights.data + from, weights.rows, features, weights.stride}), 1.0f,
               s.row_range(first, rows));
    }
  }
  return Status();
}

}  // namespace engram::cpu
