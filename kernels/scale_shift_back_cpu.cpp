// scale_shift_back on the CPU. Math, shapes and numerics: scale_shift_back.h.
#include "kernels/scale_shift_back.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kCols = 128;  // of a piece of work: threads never share a sum
constexpr int kRows = 64;   // added up in float before they meet the others

}  // namespace

Status scale_shift_back(Stream /*stream*/, MatrixView<const float> dz, MatrixView<const float> y,
                        MatrixView<const float> scale, MatrixView<float> dy,
                        MatrixView<float> dscale, MatrixView<float> dshift) {
  ENGRAM_CHECK(y.rows == dz.rows && y.cols == dz.cols && dy.rows == dz.rows && dy.cols == dz.cols);
  ENGRAM_CHECK(scale.rows == 1 && scale.cols == dz.cols);
  ENGRAM_CHECK(dscale.rows == 1 && dscale.cols == dz.cols);
  ENGRAM_CHECK(dshift.rows == 1 && dshift.cols == dz.cols);
  parallel_for((dz.cols + kCols - 1) / kCols, 1, [&](int first, int last) {
    for (int piece = first; piece < last; ++piece) {
      const int begin = piece * kCols, count = std::min(kCols, dz.cols - begin);
      const float* const by = scale.data + begin;
      double total_scale[kCols] = {}, total_shift[kCols] = {};
      for (int r = 0; r < dz.rows;) {
        const int end = std::min(r + kRows, dz.rows);
        float sum_scale[kCols] = {}, sum_shift[kCols] = {};
        for (; r < end; ++r) {
          const float *const gradient = dz.row(r) + begin, *const value = y.row(r) + begin;
          float* const to = dy.row(r) + begin;
          for (int c = 0; c < count; ++c) {
            sum_scale[c] += gradient[c] * value[c];
            sum_shift[c] += gradient[c];
          }
          for (int c = 0; c < count; ++c) to[c] = by[c] * gradient[c];
        }
        for (int c = 0; c < count; ++c) total_scale[c] += sum_scale[c];
        for (int c = 0; c < count; ++c) total_shift[c] += sum_shift[c];
      }
      for (int c = 0; c < count; ++c) dscale(0, begin + c) += float(total_scale[c]);
      for (int c = 0; c < count; ++c) dshift(0, begin + c) += float(total_shift[c]);
    }
  });
  return Status();
}

}  // namespace engram::cpu
