// activate on the CPU. Math, shapes and numerics: activate.h.
#include "kernels/activate.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 65536;  // elements per piece of work: about 20 microseconds

}  // namespace

Status activate(Stream /*stream*/, MatrixView<const std::int32_t> p, std::int32_t mul,
                std::int32_t hmax, MatrixView<float> h) {
  ENGRAM_CHECK(h.rows == p.rows && h.cols == p.cols);
  ENGRAM_CHECK(mul >= 1 && mul <= 65536 && hmax >= 1 && hmax <= 255);
  // The least p that reaches hmax. Cut there, the product is at most 2^24 and needs no 64 bits.
  const std::int32_t enough = (hmax * 65536 - 1) / mul + 1;
  const int rows_per_range = kGrain / std::max(p.cols, 1) + 1;
  parallel_for(p.rows, rows_per_range, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const std::int32_t* in = p.row(b);
      float* out = h.row(b);
      for (int m = 0; m < p.cols; ++m) {
        const std::int32_t cut = std::min(std::max(in[m], 0), enough);
        out[m] = static_cast<float>(std::min(hmax, cut * mul >> 16));
      }
    }
  });
  return Status();
}

}  // namespace engram::cpu
