// inverse_diagonal on the CPU: blocks of columns, each some calls of OpenBLAS in one thread of ours.
// Math and shapes: inverse_diagonal.h.
#include "kernels/inverse_diagonal.h"

#include <algorithm>

#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kColumns = 128;  // of the inverse at a time, in one thread: each call packs U anew
constexpr int kSquareColumns = 64;  // of the square on the diagonal at a time
constexpr int kRows = 256;          // summed up at a time

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

// x (n, n) = U^-1 of the square of U that begins at (first, first), with zeros below its diagonal.
void invert_square(GramView g, int first, MatrixView<float> x) {
  for (int r = 0; r < x.rows; ++r) {
    std::fill(x.row(r), x.row(r) + x.cols, 0.0f);
    x(r, r) = 1.0f;
  }
  for (int at = 0; at < x.cols; at += kSquareColumns) {
    const int columns = std::min(kSquareColumns, x.cols - at);
    cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, at + columns,
                columns, 1.0f, g.row(first) + first, g.stride, x.data + at, x.stride);
  }
}

// Columns [first, first + x.cols) of U^-1; the rows below first + x.cols are zeros and not written.
// With U = (P Q; 0 R) they are (-P^-1 Q R^-1; R^-1).
void invert_columns(GramView g, int first, MatrixView<float> x) {
  const MatrixView<float> square = x.row_range(first, x.cols);
  invert_square(g, first, square);
  if (first == 0) return;
  for (int r = 0; r < first; ++r) {
    const float* q = g.row(r) + first;
    for (int c = 0; c < x.cols; ++c) x(r, c) = -q[c];
  }
  cblas_strmm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, first, x.cols,
              1.0f, square.data, square.stride, x.data, x.stride);
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, first, x.cols, 1.0f,
              g.data, g.stride, x.data, x.stride);
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
