// gram_update on the CPU. Math, shapes and numerics: gram_update.h.
//
// The lower triangle is cut into blocks, one piece of work each. A block packs its columns of h
// once (they stay in the second-level cache), then goes down its rows, six at a time, and along
// them, so that G streams through in long runs and is read and written exactly once per 256 frames:
//
//     columns ->
//     \ .                     .  tile on the diagonal: by way of a small copy, so that the factor
//     |  \ .                     on and above the diagonal is neither read nor written
//     | B | \ .
//     | B | B  \ .            B  block of up to kBlockRows rows
#include "kernels/gram_update.h"

#include <algorithm>

#include "kernels/gram_tile_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kPassFrames = 256;            // frames per pass over G
constexpr int kBlockRows = 40 * kTileRows;  // rows that share one packing of the columns
constexpr int kPackedFloats = 32 * 1024;    // 128 KiB: a quarter of a second-level cache
constexpr int kMaxBlockCols = 2048;

struct Pass {
  MatrixView<const float> h;
  float sign;
  GramView g;
  GramTile* tile;
  int block_cols;
};

// columns [first, first + kCols) of h, times factor, as (batch, kCols); zeros past the last column.
template <int kCols>
void pack(MatrixView<const float> h, int first, float factor, float* packed) {
  const int cols = std::min(kCols, h.cols - first);
  for (int b = 0; b < h.rows; ++b, packed += kCols) {
    const float* row = h.row(b) + first;
    if (cols == kCols) {
      for (int c = 0; c < kCols; ++c) packed[c] = factor * row[c];
    } else {
      for (int c = 0; c < kCols; ++c) packed[c] = c < cols ? factor * row[c] : 0.0f;
    }
  }
}

// A tile that meets the diagonal or the last row.
void update_edge(const Pass& pass, const float* left, const float* right, int row, int col) {
  alignas(32) float sum[kTileRows * kTileCols] = {};
  pass.tile(left, right, pass.h.rows, sum, kTileCols);
  for (int r = row; r < std::min(row + kTileRows, pass.g.size); ++r) {
    const float* gained = sum + (r - row) * kTileCols;
    const int end = std::min(col + kTileCols, r);
    for (int c = col; c < end; ++c) pass.g.row(r)[c] += gained[c - col];
    if (r >= col && r < col + kTileCols) pass.g.diagonal[r] += gained[r - col];
  }
}

void update_block(const Pass& pass, int first_row, int first_col) {
  alignas(64) float columns[kPackedFloats];
  alignas(64) float rows[kTileRows * kPassFrames];
  const int batch = pass.h.rows;
  const int end_row = std::min(first_row + kBlockRows, pass.g.size);
  const int end_col = std::min(first_col + pass.block_cols, end_row);  // nothing right of diagonal
  for (int col = first_col; col < end_col; col += kTileCols) {
    pack<kTileCols>(pass.h, col, 1.0f, columns + (col - first_col) * batch);
  }
  for (int row = std::max(first_row, first_col / kTileRows * kTileRows); row < end_row;
       row += kTileRows) {
    pack<kTileRows>(pass.h, row, pass.sign, rows);
    const int last_row = row + kTileRows - 1;
    for (int col = first_col; col < end_col && col <= last_row; col += kTileCols) {
      const float* right = columns + (col - first_col) * batch;
      if (col + kTileCols <= row && last_row < pass.g.size) {
        pass.tile(rows, right, batch, pass.g.row(row) + col, pass.g.stride);
      } else {
        update_edge(pass, rows, right, row, col);
      }
    }
  }
}

}  // namespace

Status gram_update(Stream /*stream*/, MatrixView<const float> h, float sign, GramView g) {
  ENGRAM_CHECK(h.cols == g.size);
  for (int frame = 0; frame < h.rows; frame += kPassFrames) {
    const int batch = std::min(kPassFrames, h.rows - frame);
    const int cols = std::min(kMaxBlockCols, kPackedFloats / batch / kTileCols * kTileCols);
    const Pass pass{h.row_range(frame, batch), sign, g, best_gram_tile(), cols};
    const int blocks_down = (g.size + kBlockRows - 1) / kBlockRows;
    const int blocks_across = (g.size + cols - 1) / cols;
    parallel_for(blocks_down * blocks_across, 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        const int first_row = i / blocks_across * kBlockRows;
        const int first_col = i % blocks_across * cols;
        if (first_col < first_row + kBlockRows) update_block(pass, first_row, first_col);
      }
    });
  }
  return Status();
}

}  // namespace engram::cpu
