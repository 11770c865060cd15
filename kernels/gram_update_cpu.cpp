// gram_update on the CPU. Math, shapes and numerics: gram_update.h.
#include "kernels/gram_update.h"

#include <algorithm>

#include "platform/blas.h"

namespace engram::cpu {

Status gram_update(Stream /*stream*/, MatrixView<const float> h, float sign, GramView g) {
  ENGRAM_CHECK(h.cols == g.size);
  if (h.rows == 0 || g.size == 0) return Status();
  // G's diagonal takes its place in the buffer for as long as OpenBLAS works on it.
  for (int m = 0; m < g.size; ++m) std::swap(g.diagonal[m], g.row(m)[m]);
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, g.size, h.rows, sign, h.data, h.stride, 1.0f,
              g.data, g.stride);
  for (int m = 0; m < g.size; ++m) std::swap(g.diagonal[m], g.row(m)[m]);
  return Status();
}

}  // namespace engram::cpu
