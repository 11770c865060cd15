// activate on the GPU: one thread for each hidden unit. Math, shapes and numerics: activate.h.
#include "kernels/activate.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

// `enough` is the least p that reaches hmax: cut there, the product needs no 64 bits.
__global__ void __launch_bounds__(kThreads)
    activate_kernel(MatrixView<const std::int32_t> p, std::int32_t mul, std::int32_t hmax,
                    std::int32_t enough, MatrixView<float> h) {
  const int m = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (m >= p.cols) return;
  for (int b = static_cast<int>(blockIdx.y); b < p.rows; b += static_cast<int>(gridDim.y)) {
    const std::int32_t cut = min(max(p(b, m), 0), enough);
    h(b, m) = static_cast<float>(min(hmax, cut * mul >> 16));
  }
}

}  // namespace

Status activate(Stream stream, MatrixView<const std::int32_t> p, std::int32_t mul,
                std::int32_t hmax, MatrixView<float> h) {
  ENGRAM_CHECK(h.rows == p.rows && h.cols == p.cols);
  ENGRAM_CHECK(mul >= 1 && mul <= 65536 && hmax >= 1 && hmax <= 255);
  if (p.rows == 0 || p.cols == 0) return Status();
  const std::int32_t enough = (hmax * 65536 - 1) / mul + 1;
  return launch(activate_kernel, elementwise(p.rows, p.cols, kThreads), stream, p, mul, hmax,
                enough, h);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
