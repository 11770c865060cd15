// unit_rows_back on the CPU. Math, shapes and numerics: unit_rows_back.h.
#include "kernels/unit_rows_back.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16384;  // elements per piece of work: about 20 microseconds

}  // namespace

Status unit_rows_back(Stream /*stream*/, MatrixView<const float> dy, MatrixView<const float> y,
                      MatrixView<const float> lengths, MatrixView<float> dx) {
  ENGRAM_CHECK(y.rows == dy.rows && y.cols == dy.cols && dx.rows == dy.rows && dx.cols == dy.cols);
  ENGRAM_CHECK(lengths.rows == 1 && lengths.cols == dy.rows);
  parallel_for(dy.rows, kGrain / std::max(dy.cols, 1) + 1, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const float *const gradient = dy.row(r), *const unit = y.row(r);
      float* const to = dx.row(r);
      const float length = lengths(0, r);
      if (length == 0.0f) {
        std::fill(to, to + dx.cols, 0.0f);
        continue;
      }
      double product = 0;
      for (int c = 0; c < dy.cols; ++c) product += double{gradient[c]} * unit[c];
      const auto along = float(product);
      for (int c = 0; c < dy.cols; ++c) to[c] = (gradient[c] - along * unit[c]) / length;
    }
  });
  return Status();
}

}  // namespace engram::cpu
