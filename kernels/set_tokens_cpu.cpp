// set_tokens on the CPU. Math and shapes: set_tokens.h.
#include "kernels/set_tokens.h"

#include <algorithm>

namespace engram::cpu {

// A few rows of each picture: less work than handing it to other threads.
Status set_tokens(Stream /*stream*/, MatrixView<const float> rows, int first, int tokens,
                  MatrixView<float> x) {
  ENGRAM_CHECK(first >= 0 && tokens >= 1 && first + rows.rows <= tokens);
  ENGRAM_CHECK(rows.cols == x.cols && x.rows % tokens == 0);
  for (int top = first; top < x.rows; top += tokens) {
    for (int p = 0; p < rows.rows; ++p) std::copy_n(rows.row(p), rows.cols, x.row(top + p));
  }
  return Status();
}

}  // namespace engram::cpu
