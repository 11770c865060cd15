// Row-major "upper" is column-major "lower" of the same bytes: LAPACK is asked for 'L' and reads
// and writes nothing strictly below our diagonal, where G is.
#include "kernels/factor_cpu.h"

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

void copy_gram_rows(float lambda, int first, GramView g) {
  parallel_for(g.size - first, kBlock, [&](int begin, int end) {
    for (int block = first + begin; block < first + end; block += kBlock) {
      copy_transposed(g, block, std::min(block + kBlock, first + end));
    }
  });
  for (int m = first; m < g.size; ++m) g.row(m)[m] = g.diagonal[m] + lambda;
}

Status factor_block(int first, GramView g) {
  const int size = g.size - first;
  int info = 0;
  spotrf_("L", &size, g.row(first) + first, &g.stride, &info);
  ENGRAM_CHECK(info >= 0);
  if (info > 0) return not_positive_definite();
  // What is not finite anywhere reaches a later pivot: the diagonal tells.
  for (int m = first; m < g.size; ++m) {
    if (!std::isfinite(g.row(m)[m])) return not_positive_definite();
  }
  return Status();
}

}  // namespace engram::cpu
