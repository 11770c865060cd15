// quantise on the GPU: a block for each row, which votes whether it is finite. Math, shapes and
// numerics: quantise.h.
#include "kernels/quantise.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    quantise_kernel(MatrixView<const float> f, float scale, MatrixView<std::int8_t> q,
                    MatrixView<std::int32_t> not_finite) {
  const int b = static_cast<int>(blockIdx.x);
  int bad = 0;
  for (int l = static_cast<int>(threadIdx.x); l < f.cols; l += kThreads) {
    const float feature = f(b, l);
    bad |= !(feature - feature == 0.0f);  // NaN or infinite
    float value = feature * scale;
    value = value > 127.0f ? 127.0f : value;  // before rounding: the limits are whole numbers
    value = value < -127.0f ? -127.0f : value;
    value = value == value ? value : 0.0f;  // NaN
    q(b, l) = static_cast<std::int8_t>(__float2int_rn(value));
  }
  bad = __syncthreads_or(bad);
  if (threadIdx.x == 0) not_finite(0, b) = bad != 0;
}

}  // namespace

Status quantise(Stream stream, MatrixView<const float> f, float scale, MatrixView<std::int8_t> q,
                MatrixView<std::int32_t> not_finite) {
  ENGRAM_CHECK(q.rows == f.rows && q.cols == f.cols);
  ENGRAM_CHECK(not_finite.rows == 1 && not_finite.cols == f.rows);
  if (f.rows == 0) return Status();
  return launch(quantise_kernel, {dim3(static_cast<unsigned>(f.rows)), dim3(kThreads)}, stream, f,
                scale, q, not_finite);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
