// inverse_diagonal on the CPU: blocks of columns, one call of OpenBLAS in one thread of ours each.
// Math and shapes: inverse_diagonal.h.
#include "kernels/inverse_diagonal.h"

#include <algorithm>

#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kColumns = 64;  // of the inverse at a time, in one thread
constexpr int kRows = 256;    // summed up at a time

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

// Columns [first, first + x.cols) of U^-1: the rows below first + x.cols are zeros and not written.
void invert_columns(GramView g, int first, MatrixView<float> x) {
  const int columns = x.cols, height = first + columns;
  for (int r = 0; r < height; ++r) {
    std::fill(x.row(r), x.row(r) + columns, 0.0f);
    if (r >= first) x(r, r - first) = 1.0f;
  }
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, height, columns,
              1.0f, g.data, g.stride, x.data, x.stride);
}

}  // namespace

Status inverse_diagonal(Stream /*stream*/, GramView g, MatrixView<float> scratch,
                        MatrixView<float> d) {
  ENGRAM_CHECK(scratch.rows >= g.size && scratch.cols >= 1);
  ENGRAM_CHECK(d.rows == 1 && d.cols == g.size);
  std::fill(d.data, d.data + d.cols, 0.0f);
  for (int first = 0; first < g.size; first += scratch.cols) {
    const int width = std::min(scratch.cols, g.size - first);
    parallel_for(width, kColumns, [&](int begin, int end) {
      for (int at = begin; at < end; at += kColumns) {
        const int columns = std::min(kColumns, end - at);
        invert_columns(g, first + at, {scratch.data + at, scratch.rows, columns, scratch.stride});
      }
    });
    parallel_for(first + width, kRows, [&](int begin, int end) {
      for (int r = begin; r < end; ++r) {
        for (int at = 0; at < width; at += kColumns) {
          const int columns = std::min(kColumns, width - at);
          if (r < first + at + columns) d.data[r] += sum_of_squares(scratch.row(r) + at, columns);
        }
      }
    });
  }
  return Status();
}

}  // namespace engram::cpu
