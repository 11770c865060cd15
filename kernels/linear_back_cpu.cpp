// linear_back on the CPU: a matrix product. Math and shapes: linear_back.h.
#include "kernels/linear_back.h"

#include "kernels/matrix_product_cpu.h"

namespace engram::cpu {

Status linear_back(Stream /*stream*/, MatrixView<const float> dy, MatrixView<const float> w,
                   bool add, MatrixView<float> dx) {
  ENGRAM_CHECK(w.rows > 0 && dy.cols == w.rows && dx.rows == dy.rows && dx.cols == w.cols);
  multiply(1.0f, plain(dy), plain(w), add ? 1.0f : 0.0f, dx);
  return Status();
}

}  // namespace engram::cpu
