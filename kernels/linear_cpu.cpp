// linear on the CPU: a matrix product on top of the bias. Math and shapes: linear.h.
#include "kernels/linear.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"
#include "kernels/row_pieces_cpu.h"

namespace engram::cpu {

Status linear(Stream /*stream*/, MatrixView<const float> x, MatrixView<const float> w,
              MatrixView<const float> b, MatrixView<float> y) {
  ENGRAM_CHECK(w.cols > 0 && x.cols == w.cols && y.rows == x.rows && y.cols == w.rows);
  ENGRAM_CHECK(b.rows == 0 || (b.rows == 1 && b.cols == w.rows));
  const bool has_bias = b.rows == 1;
  // OpenBLAS would otherwise fill y with zeros: the bias costs nothing.
  if (has_bias) {
    for_row_pieces(y.rows, y.cols, [&](int r, int begin, int end) {
      std::copy(b.data + begin, b.data + end, y.row(r) + begin);
    });
  }
  multiply(1.0f, plain(x), turned(w), has_bias ? 1.0f : 0.0f, y);
  return Status();
}

}  // namespace engram::cpu
