// class_sums on the GPU. Math and shapes: class_sums.h.
//
// A thread owns one hidden unit, of every class: it adds frame after frame, so no two threads ever
// meet in a sum, and neighbouring threads read and write neighbouring numbers.
#include "kernels/class_sums.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 128;

// Labels live in device memory, so they are checked here: a wrong one stops the kernel.
__global__ void __launch_bounds__(kThreads)
    class_sums_kernel(MatrixView<const float> h, const std::int32_t* labels, float sign,
                      MatrixView<float> c) {
  const int m = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (m >= h.cols) return;
  for (int b = 0; b < h.rows; ++b) {
    const int label = labels[b];
    if (label < 0 || label >= c.rows) __trap();
    c(label, m) += sign * h(b, m);
  }
}

}  // namespace

Status class_sums(Stream stream, MatrixView<const float> h, MatrixView<const std::int32_t> labels,
                  float sign, MatrixView<float> c) {
  ENGRAM_CHECK(h.cols == c.cols);
  ENGRAM_CHECK(h.rows == 0 || (labels.rows == 1 && labels.cols == h.rows));
  if (h.rows == 0 || h.cols == 0) return Status();
  const dim3 grid(static_cast<unsigned>(divide_up(h.cols, kThreads)));
  return launch(class_sums_kernel, {grid, dim3(kThreads)}, stream, h, labels.data, sign, c);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
