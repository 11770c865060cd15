// gelu_back on the CPU. Math, shapes and numerics: gelu_back.h.
#include "kernels/gelu_back.h"

#include "kernels/gelu_cpu.h"

namespace engram::cpu {
namespace {

struct Gradient {
  template <GeluKind kind>
  static ENGRAM_INLINE float of(float x, float dy) {
    if constexpr (kind == GeluKind::relu)
      return x > 0.0f ? dy : 0.0f;
    else
      return dy * gelu_slope_of<kind>(x);
  }
};

}  // namespace

Status gelu_back(Stream /*stream*/, MatrixView<const float> dy, MatrixView<const float> x,
                 GeluKind kind, MatrixView<float> dx) {
  ENGRAM_CHECK(dy.rows == x.rows && dy.cols == x.cols);
  ENGRAM_CHECK(dx.rows == x.rows && dx.cols == x.cols);
  apply_gelu<Gradient>(x, dy, kind, dx);
  return Status();
}

}  // namespace engram::cpu
