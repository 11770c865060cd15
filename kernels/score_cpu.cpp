// score on the CPU: OpenBLAS. Math and shapes: score.h.
#include "kernels/score.h"

#include <algorithm>

#include "platform/blas.h"

namespace engram::cpu {

Status score(Stream /*stream*/, MatrixView<const float> h, MatrixView<const float> readout,
             MatrixView<float> s) {
  ENGRAM_CHECK(h.cols == readout.cols);
  ENGRAM_CHECK(s.rows == h.rows && s.cols == readout.rows);
  if (s.rows == 0 || s.cols == 0) return Status();

  if (h.cols == 0) {
    for (int b = 0; b < s.rows; ++b) std::fill_n(s.row(b), s.cols, 0.0f);
  } else if (h.rows == 1) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, readout.rows, readout.cols, 1.0f, readout.data,
                readout.stride, h.data, 1, 0.0f, s.data, 1);
  } else {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, h.rows, readout.rows, h.cols, 1.0f, h.data,
                h.stride, readout.data, readout.stride, 0.0f, s.data, s.stride);
  }
  return Status();
}

}  // namespace engram::cpu
