// dropout on the GPU: one thread for each element, which makes all four words to use one of them:
// about as long as the memory takes. Math, shapes and numerics: dropout.h.
#include "kernels/dropout.h"

#include <cmath>

#include "platform/launch.h"
#include "platform/philox.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

// Picks by comparison: an index that is not known when compiled would put the words into memory.
__device__ __forceinline__ std::uint32_t word_of(std::uint64_t n, std::uint64_t seed) {
  const std::uint64_t block = n / 4;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0,
              static_cast<std::uint32_t>(PhiloxStream::dropout)},
             seed);
  const std::uint32_t low = n % 2 == 0 ? words[0] : words[1];
  const std::uint32_t high = n % 2 == 0 ? words[2] : words[3];
  return n / 2 % 2 == 0 ? low : high;
}

__global__ void __launch_bounds__(kThreads)
    dropout_kernel(MatrixView<const float> x, std::uint32_t least, float larger, std::uint64_t seed,
                   std::uint64_t first, MatrixView<float> y) {
  const int c = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (c >= x.cols) return;
  for (int r = static_cast<int>(blockIdx.y); r < x.rows; r += static_cast<int>(gridDim.y)) {
    const std::uint64_t n = first + static_cast<std::uint64_t>(r) * x.cols + c;
    y(r, c) = word_of(n, seed) >= least ? x(r, c) * larger : 0.0f;
  }
}

}  // namespace

Status dropout(Stream stream, MatrixView<const float> x, float rate, std::uint64_t seed,
               std::uint64_t first, MatrixView<float> y) {
  ENGRAM_CHECK(rate >= 0.0f && rate < 1.0f);
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  if (x.rows == 0 || x.cols == 0) return Status();
  const auto least = static_cast<std::uint32_t>(std::ceil(static_cast<double>(rate) * 0x1p32));
  return launch(dropout_kernel, elementwise(x.rows, x.cols, kThreads), stream, x, least,
                1.0f / (1.0f - rate), seed, first, y);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
