// score on the CPU: a matrix product. Math and shapes: score.h.
#include "kernels/score.h"

#include "kernels/matrix_product_cpu.h"

namespace engram::cpu {

Status score(Stream /*stream*/, MatrixView<const float> h, MatrixView<const float> readout,
             MatrixView<float> s) {
  ENGRAM_CHECK(h.cols == readout.cols);
  ENGRAM_CHECK(s.rows == h.rows && s.cols == readout.rows);
  multiply(1.0f, plain(h), turned(readout), 0.0f, s);
  return Status();
}

}  // namespace engram::cpu
