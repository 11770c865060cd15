// gelu on the CPU: limited by memory, but for erf. Math, shapes and numerics: gelu.h.
#include "kernels/gelu.h"

#include "kernels/gelu_cpu.h"

namespace engram::cpu {
namespace {

struct Value {
  template <GeluKind kind>
  static ENGRAM_INLINE float of(float x, float /*dy*/) {
    return gelu_of<kind>(x);
  }
};

}  // namespace

Status gelu(Stream /*stream*/, MatrixView<const float> x, GeluKind kind, MatrixView<float> y) {
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  apply_gelu<Value>(x, x, kind, y);
  return Status();
}

}  // namespace engram::cpu
