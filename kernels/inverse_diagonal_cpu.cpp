// inverse_diagonal on the CPU: OpenBLAS by blocks of columns. Math and shapes: inverse_diagonal.h.
#include "kernels/inverse_diagonal.h"

#include <algorithm>

#include "platform/blas.h"

namespace engram::cpu {
namespace {

float sum_of_squares(const float* values, int count) {
  constexpr int kLanes = 8;  // sums that the compiler may keep apart in a vector register
  float sums[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane] * values[i + lane];
  }
  for (; i < count; ++i) sums[0] += values[i] * values[i];
  float total = 0.0f;
  for (const float sum : sums) total += sum;
  return total;
}

}  // namespace

Status inverse_diagonal(Stream /*stream*/, GramView g, MatrixView<float> scratch,
                        MatrixView<float> d) {
  ENGRAM_CHECK(scratch.rows >= g.size && scratch.cols >= 1);
  ENGRAM_CHECK(d.rows == 1 && d.cols == g.size);
  std::fill(d.data, d.data + d.cols, 0.0f);
  for (int first = 0; first < g.size; first += scratch.cols) {
    const int width = std::min(scratch.cols, g.size - first), height = first + width;
    for (int r = 0; r < height; ++r) {
      std::fill(scratch.row(r), scratch.row(r) + width, 0.0f);
      if (r >= first) scratch(r, r - first) = 1.0f;
    }
    cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, height, width,
                1.0f, g.data, g.stride, scratch.data, scratch.stride);
    for (int r = 0; r < height; ++r) d.data[r] += sum_of_squares(scratch.row(r), width);
  }
  return Status();
}

}  // namespace engram::cpu
