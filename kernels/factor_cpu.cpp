#include "kernels/factor_cpu.h"

#include <algorithm>

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

}  // namespace

void copy_gram_rows(float lambda, int first, GramView g) {
  parallel_for(g.size - first, kBlock, [&](int begin, int end) {
    for (int block = first + begin; block < first + end; block += kBlock) {
      copy_transposed(g, block, std::min(block + kBlock, first + end));
    }
  });
  for (int m = first; m < g.size; ++m) g.row(m)[m] = g.diagonal[m] + lambda;
}

}  // namespace engram::cpu
