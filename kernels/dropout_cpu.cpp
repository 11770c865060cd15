// dropout on the CPU. Math, shapes and numerics: dropout.h.
#include "kernels/dropout.h"

#include <cmath>

#include "kernels/row_pieces_cpu.h"
#include "platform/philox.h"

namespace engram::cpu {

Status dropout(Stream /*stream*/, MatrixView<const float> x, float rate, std::uint64_t seed,
               std::uint64_t first, MatrixView<float> y) {
  ENGRAM_CHECK(rate >= 0.0f && rate < 1.0f);
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  const auto least = std::uint32_t(std::ceil(double{rate} * 0x1p32));
  const float larger = 1.0f / (1.0f - rate);
  for_row_pieces(x.rows, x.cols, [&](int r, int begin, int end) {
    const float* const from = x.row(r);
    float* const to = y.row(r);
    std::uint64_t n = first + std::uint64_t(r) * std::uint64_t(x.cols) + std::uint64_t(begin);
    for (int c = begin; c < end;) {
      const std::uint64_t block = n / 4;
      const PhiloxWords words = philox({std::uint32_t(block), std::uint32_t(block >> 32), 0,
                                        std::uint32_t(PhiloxStream::dropout)},
                                       seed);
      for (; c < end && n / 4 == block; ++c, ++n) {
        to[c] = words[n % 4] >= least ? from[c] * larger : 0.0f;
      }
    }
  });
  return Status();
}

}  // namespace engram::cpu
