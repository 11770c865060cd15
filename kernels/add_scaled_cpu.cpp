// add_scaled on the CPU. Math, shapes and numerics: add_scaled.h.
#include "kernels/add_scaled.h"

#include "kernels/row_pieces_cpu.h"

namespace engram::cpu {

Status add_scaled(Stream /*stream*/, MatrixView<const float> x, MatrixView<const float> a,
                  MatrixView<const float> gamma, float alpha, MatrixView<float> y) {
  ENGRAM_CHECK(x.rows == 0 || (x.rows == a.rows && x.cols == a.cols));
  ENGRAM_CHECK(gamma.rows == 0 || (gamma.rows == 1 && gamma.cols == a.cols));
  ENGRAM_CHECK(y.rows == a.rows && y.cols == a.cols);
  for_row_pieces(a.rows, a.cols, [&](int r, int begin, int end) {
    const float *const from = x.rows > 0 ? x.row(r) : nullptr, *const branch = a.row(r);
    const float* const factors = gamma.rows > 0 ? gamma.data : nullptr;
    float* const to = y.row(r);
    if (from != nullptr && factors != nullptr) {
      for (int c = begin; c < end; ++c) to[c] = from[c] + alpha * factors[c] * branch[c];
    } else if (from != nullptr) {
      for (int c = begin; c < end; ++c) to[c] = from[c] + alpha * branch[c];
    } else if (factors != nullptr) {
      for (int c = begin; c < end; ++c) to[c] = alpha * factors[c] * branch[c];
    } else {
      for (int c = begin; c < end; ++c) to[c] = alpha * branch[c];
    }
  });
  return Status();
}

}  // namespace engram::cpu
