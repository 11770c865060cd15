// linear_gradient on the CPU: a matrix product, and sums of columns. Math and shapes:
// linear_gradient.h.
#include "kernels/linear_gradient.h"

#include <algorithm>

#include "kernels/matrix_product_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kCols = 128;  // of a piece of work: threads never share a sum
constexpr int kRows = 64;   // added up in float before they meet the others

}  // namespace

Status linear_gradient(Stream /*stream*/, MatrixView<const float> dy, MatrixView<const float> x,
                       MatrixView<float> dw, MatrixView<float> db) {
  ENGRAM_CHECK(dy.rows == x.rows && dw.rows == dy.cols && dw.cols == x.cols);
  ENGRAM_CHECK(db.rows == 0 || (db.rows == 1 && db.cols == dy.cols));
  multiply(1.0f, turned(dy), plain(x), 1.0f, dw);
  if (db.rows == 0) return Status();
  parallel_for((dy.cols + kCols - 1) / kCols, 1, [&](int first, int last) {
    for (int piece = first; piece < last; ++piece) {
      const int begin = piece * kCols, count = std::min(kCols, dy.cols - begin);
      double total[kCols] = {};
      for (int r = 0; r < dy.rows;) {
        const int end = std::min(r + kRows, dy.rows);
        float sum[kCols] = {};
        for (; r < end; ++r) {
          const float* const from = dy.row(r) + begin;
          for (int c = 0; c < count; ++c) sum[c] += from[c];
        }
        for (int c = 0; c < count; ++c) total[c] += sum[c];
      }
      for (int c = 0; c < count; ++c) db(0, begin + c) += float(total[c]);
    }
  });
  return Status();
}

}  // namespace engram::cpu
