// patches on the CPU: lines of a square, copied. Math and shapes: patches.h.
#include "kernels/patches.h"

#include <algorithm>

#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kGrain = 16;  // rows per piece of work: about 50 KB

}  // namespace

Status patches(Stream /*stream*/, MatrixView<const float> pictures, int side, int patch,
               MatrixView<float> rows) {
  ENGRAM_CHECK(patch >= 1 && side >= patch && side % patch == 0);
  ENGRAM_CHECK(pictures.cols == 3 * side * side && rows.cols == 3 * patch * patch);
  const int across = side / patch, squares = across * across;
  ENGRAM_CHECK(rows.rows == pictures.rows * squares);
  parallel_for(rows.rows, kGrain, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const int i = r % squares / across, j = r % across;
      const float* from = pictures.row(r / squares) + i * patch * side + j * patch;
      float* to = rows.row(r);
      for (int c = 0; c < 3; ++c, from += side * side) {
        for (int y = 0; y < patch; ++y, to += patch) std::copy_n(from + y * side, patch, to);
      }
    }
  });
  return Status();
}

}  // namespace engram::cpu
