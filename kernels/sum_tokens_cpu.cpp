// sum_tokens on the CPU: some columns at a time, whose sums stay in the first-level cache. Math and
// shapes: sum_tokens.h.
#include "kernels/sum_tokens.h"

#include <algorithm>

namespace engram::cpu {
namespace {

constexpr int kCols = 256;  // summed at once

}  // namespace

// A few rows of each picture: less work than handing it to other threads.
Status sum_tokens(Stream /*stream*/, int first, int tokens, MatrixView<float> dx,
                  MatrixView<float> drows) {
  ENGRAM_CHECK(first >= 0 && tokens >= 1 && first + drows.rows <= tokens);
  ENGRAM_CHECK(drows.cols == dx.cols && dx.rows % tokens == 0);
  for (int p = 0; p < drows.rows; ++p) {
    for (int left = 0; left < dx.cols; left += kCols) {
      const int count = std::min(kCols, dx.cols - left);
      float sum[kCols] = {};
      for (int r = first + p; r < dx.rows; r += tokens) {
        float* const row = dx.row(r) + left;
        for (int c = 0; c < count; ++c) sum[c] += row[c];
        std::fill_n(row, count, 0.0f);
      }
      float* const to = drows.row(p) + left;
      for (int c = 0; c < count; ++c) to[c] += sum[c];
    }
  }
  return Status();
}

}  // namespace engram::cpu
