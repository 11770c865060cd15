// What `cholesky` and `factor_append` share on a GPU. Math and layout: factor_device.h.
//
// The copy turns G's lower triangle into the upper one in tiles of 32 x 32: a tile is read along
// rows and written along rows, each a full 128-byte line, and turned in shared memory in between.
//
//     tile (R, C), C <= R:   reads  rows R*32.., columns C*32..    of G
//                            writes rows C*32.., columns R*32..    of U
//
// On the diagonal a tile reads only below it and writes only above it, so no block reads what
// another writes.
#include "kernels/factor_device.h"

#include "platform/device_blas.h"
#include "platform/device_memory.h"
#include "platform/launch.h"

namespace engram::ENGRAM_DEVICE_NAMESPACE {
namespace {

constexpr int kTile = 32;
constexpr int kTileRows = 8;  // of a tile, read at once by a block of 32 x 8 threads
constexpr int kThreads = 256;

__global__ void __launch_bounds__(kTile* kTileRows)
    turn_kernel(float lambda, int first, GramView g) {
  const int tile_r = first / kTile + static_cast<int>(blockIdx.y);
  const int tile_c = static_cast<int>(blockIdx.x);
  if (tile_c > tile_r) return;  // the whole block
  // One column to spare: the threads of a warp read a column from 32 different banks.
  ENGRAM_SHARED(float, tile, [kTile][kTile + 1]);
  const int x = static_cast<int>(threadIdx.x), y0 = static_cast<int>(threadIdx.y);
  for (int y = y0; y < kTile; y += kTileRows) {
    const int r = tile_r * kTile + y, c = tile_c * kTile + x;
    if (r >= first && r < g.size && c <= r) {
      tile[y][x] = c == r ? g.diagonal[r] + lambda : g.row(r)[c];
    }
  }
  __syncthreads();
  for (int y = y0; y < kTile; y += kTileRows) {
    const int c = tile_c * kTile + y, r = tile_r * kTile + x;
    if (r >= first && r < g.size && c <= r) g.row(c)[r] = tile[x][y];
  }
}

// What is not finite anywhere reaches a later pivot: the diagonal tells.
__global__ void __launch_bounds__(kThreads) judge_kernel(int first, GramView g, int* verdict) {
  int bad = 0;
  for (int m = first + static_cast<int>(threadIdx.x); m < g.size; m += kThreads) {
    const float pivot = g.row(m)[m];
    if (!(pivot - pivot == 0.0f)) bad = 1;  // neither a number nor infinite
  }
  bad = __syncthreads_or(bad);
  if (threadIdx.x == 0 && bad != 0) *verdict = 1;
}

}  // namespace

Status copy_gram_rows(Stream stream, float lambda, int first, GramView g) {
  if (first >= g.size) return Status();
  const int tiles = divide_up(g.size, kTile);
  return launch(turn_kernel,
                {dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(tiles - first / kTile)),
                 dim3(kTile, kTileRows)},
                stream, lambda, first, g);
}

Status factor_block(Stream stream, int first, GramView g) {
  if (first >= g.size) return Status();
  ENGRAM_ASSIGN(int* verdict, device_verdict());
  const int size = g.size - first;
  ENGRAM_TRY(blas_factor_upper(stream, {g.row(first) + first, size, size, g.stride}, verdict));
  ENGRAM_TRY(launch(judge_kernel, {dim3(1), dim3(kThreads)}, stream, first, g, verdict));
  ENGRAM_ASSIGN(const int order, read_device_verdict(stream));
  if (order == 0) return Status();
  return Status(Code::bad_data,
                "the statistics plus lambda are not positive definite in float, so they have no "
                "Cholesky factor; the statistics are intact; choose a larger lambda");
}

}  // namespace engram::ENGRAM_DEVICE_NAMESPACE
