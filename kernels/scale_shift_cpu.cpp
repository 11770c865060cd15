// scale_shift on the CPU. Math, shapes and numerics: scale_shift.h.
#include "kernels/scale_shift.h"

#include "kernels/row_pieces_cpu.h"

namespace engram::cpu {

Status scale_shift(Stream /*stream*/, MatrixView<const float> y, MatrixView<const float> scale,
                   MatrixView<const float> shift, MatrixView<float> z) {
  ENGRAM_CHECK(scale.rows == 1 && scale.cols == y.cols && shift.rows == 1 && shift.cols == y.cols);
  ENGRAM_CHECK(z.rows == y.rows && z.cols == y.cols);
  for_row_pieces(y.rows, y.cols, [&](int r, int begin, int end) {
    const float *const from = y.row(r), *const by = scale.data, *const more = shift.data;
    float* const to = z.row(r);
    for (int c = begin; c < end; ++c) to[c] = by[c] * from[c] + more[c];
  });
  return Status();
}

}  // namespace engram::cpu
