// cholesky on the CPU: a transposed copy, then LAPACK in place. Math and shapes: cholesky.h.
//
// Row-major "upper" is column-major "lower" of the same bytes: LAPACK is asked for 'L' and reads
// and writes nothing strictly below our diagonal, where G is.
#include "kernels/cholesky.h"

#include <algorithm>
#include <cmath>

#include "platform/blas.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kBlock = 32;  // two blocks of 4 KiB stay in the first-level cache while one is turned

// U[c,r] = G[r,c] for the rows [begin, end) of G.
void copy_transposed(GramView g, int begin, int end) {
  for (int block = 0; block < end; block += kBlock) {
    for (int r = begin; r < end; ++r) {
      const int last = std::min(block + kBlock, r);
      for (int c = block; c < last; ++c) g.row(c)[r] = g.row(r)[c];
    }
  }
}

Status not_positive_definite() {
  return Status(Code::bad_data,
                "the statistics plus lambda are not positive definite in float, so they have no "
                "Cholesky factor; the statistics are intact; choose a larger lambda");
}

}  // namespace

Status cholesky(Stream /*stream*/, float lambda, MatrixView<const float> held_out, GramView g) {
  ENGRAM_CHECK(lambda > 0.0f);
  ENGRAM_CHECK(held_out.rows == 0 || held_out.cols == g.size);
  if (g.size == 0) return Status();

  parallel_for(g.size, kBlock, [&](int begin, int end) {
    for (int first = begin; first < end; first += kBlock) {
      copy_transposed(g, first, std::min(first + kBlock, end));
    }
  });
  for (int m = 0; m < g.size; ++m) g.row(m)[m] = g.diagonal[m] + lambda;
  if (held_out.rows > 0) {
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, g.size, held_out.rows, -1.0f, held_out.data,
                held_out.stride, 1.0f, g.data, g.stride);
  }

  int info = 0;
  spotrf_("L", &g.size, g.data, &g.stride, &info);
  ENGRAM_CHECK(info >= 0);
  if (info > 0) return not_positive_definite();
  // What is not finite anywhere reaches a later pivot: the diagonal tells.
  for (int m = 0; m < g.size; ++m) {
    if (!std::isfinite(g.row(m)[m])) return not_positive_definite();
  }
  return Status();
}

}  // namespace engram::cpu
