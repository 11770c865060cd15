// sgd_step on the CPU. Math, shapes and numerics: sgd_step.h.
#include "kernels/sgd_step.h"

#include "kernels/row_pieces_cpu.h"

namespace engram::cpu {

Status sgd_step(Stream /*stream*/, MatrixView<const float> g, float rate, float momentum,
                float decay, MatrixView<float> v, MatrixView<float> p) {
  ENGRAM_CHECK(v.rows == g.rows && v.cols == g.cols && p.rows == g.rows && p.cols == g.cols);
  for_row_pieces(g.rows, g.cols, [&](int r, int begin, int end) {
    const float* const gradient = g.row(r);
    float *const velocity = v.row(r), *const parameter = p.row(r);
    for (int c = begin; c < end; ++c) {
      const float now = momentum * velocity[c] + (gradient[c] + decay * parameter[c]);
      velocity[c] = now;
      parameter[c] -= rate * now;
    }
  });
  return Status();
}

}  // namespace engram::cpu
