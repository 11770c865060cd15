// unit_rows on the CPU. Math, shapes and numerics: unit_rows.h.
#include "kernels/unit_rows.h"

#include <algorithm>
#include <cmath>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16384;  // elements per piece of work: about 20 microseconds

}  // namespace

Status unit_rows(Stream /*stream*/, MatrixView<const float> x, MatrixView<float> y,
                 MatrixView<float> lengths) {
  ENGRAM_CHECK(y.rows == x.rows && y.cols == x.cols);
  ENGRAM_CHECK(lengths.rows == 1 && lengths.cols == x.rows);
  parallel_for(x.rows, kGrain / std::max(x.cols, 1) + 1, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const float* const from = x.row(r);
      float* const to = y.row(r);
      double squares = 0;
      for (int c = 0; c < x.cols; ++c) squares += double{from[c]} * from[c];
      const auto length = float(std::sqrt(squares));
      const float divisor = length == 0.0f ? 1.0f : length;
      for (int c = 0; c < x.cols; ++c) to[c] = from[c] / divisor;
      lengths(0, r) = length;
    }
  });
  return Status();
}

}  // namespace engram::cpu
