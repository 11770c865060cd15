// patches on the GPU: a thread for each number of a row. Math and shapes: patches.h.
#include "kernels/patches.h"

#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    patches_kernel(MatrixView<const float> pictures, int side, int patch, MatrixView<float> rows) {
  const int col = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (col >= rows.cols) return;
  const int across = side / patch, squares = across * across;
  const int line = col / patch, c = line / patch, y = line % patch, x = col % patch;
  for (int r = static_cast<int>(blockIdx.y); r < rows.rows; r += static_cast<int>(gridDim.y)) {
    const int top = r % squares / across * patch, left = r % across * patch;
    rows(r, col) = pictures(r / squares, (c * side + top + y) * side + left + x);
  }
}

}  // namespace

Status patches(Stream stream, MatrixView<const float> pictures, int side, int patch,
               MatrixView<float> rows) {
  ENGRAM_CHECK(patch >= 1 && side >= patch && side % patch == 0);
  ENGRAM_CHECK(pictures.cols == 3 * side * side && rows.cols == 3 * patch * patch);
  ENGRAM_CHECK(rows.rows == pictures.rows * (side / patch) * (side / patch));
  if (rows.rows == 0) return Status();
  return launch(patches_kernel, elementwise(rows.rows, rows.cols, kThreads), stream, pictures, side,
                patch, rows);
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
