// gram_update on the CPU. Math, shapes and numerics: gram_update.h.
//
// The lower triangle is cut into bands of rows, one piece of work each, and a band into blocks of
// columns. Everything in a block is packed, so that the tiles read it as it comes:
//
//     \ .                     .  tile on the diagonal: by way of a small copy, so that the factor
//     |  \ .                     on and above the diagonal is neither read nor written
//     |     \ .
//     | B  B  B\ .            B  block; its rows of h are packed once per band, its columns once
//
// Real numbers in large batches go to OpenBLAS instead.
//
// Packed rows and columns stay in the second-level cache, a strip of columns in the first. G is
// read and written exactly once per 256 frames.
#include "kernels/gram_update.h"

#include <algorithm>
#include <cstddef>

#include "kernels/gram_tile_cpu.h"
#include "kernels/matrix_product_cpu.h"
#include "kernels/simd_cpu.h"
#include "platform/threads.h"

namespace engram::cpu {
namespace {

constexpr int kBandWords = 48 * 1024;   // packed rows of a band: 192 KiB, and that much stack
constexpr int kBlockWords = 16 * 1024;  // packed columns of a block: 64 KiB
constexpr int kStripWords = 4 * 1024;   // packed columns of a strip: 16 KiB
constexpr int kMaxBlockCols = 2048;
constexpr int kMaxBandRows = 64 * kTileRows;
constexpr int kMinBandRows = 8 * kTileRows;

constexpr int kBlasFrames = 64;  // from here on OpenBLAS multiplies real numbers faster than we do

struct Pass {
  MatrixView<const float> h;
  float sign;
  GramView g;
  GramArithmetic arithmetic;
  int steps;      // of the packed strips
  int band_rows;  // a multiple of kTileRows

  Pass(MatrixView<const float> frames, float sign_, GramView g_)
      : h(frames), sign(sign_), g(g_), arithmetic(choose_gram_arithmetic(frames)) {
    steps = arithmetic.steps(frames.rows);
    // Wide bands pack less often; several per thread share the work evenly.
    const int even = std::clamp(g.size / (3 * thread_count()), kMinBandRows, kMaxBandRows);
    band_rows = std::min(even, kBandWords / steps) / kTileRows * kTileRows;
  }
};

struct Word {  // of either arithmetic; see gram_tile_cpu.h
  std::byte bytes[4];
};

// A tile that meets the diagonal or the last row.
void update_edge(const Pass& pass, const Word* left, const Word* right, int row, int col) {
  alignas(32) float sum[kTileRows * kTileCols] = {};
  pass.arithmetic.tile(left, right, pass.steps, sum, kTileCols);
  for (int r = row; r < std::min(row + kTileRows, pass.g.size); ++r) {
    const float* gained = sum + (r - row) * kTileCols;
    const int end = std::min(col + kTileCols, r);
    for (int c = col; c < end; ++c) pass.g.row(r)[c] += gained[c - col];
    if (r >= col && r < col + kTileCols) pass.g.diagonal[r] += gained[r - col];
  }
}

// The rows of a band by the columns [first_col, end_col).
void update_strip(const Pass& pass, const Word* left, const Word* right, int first_row, int end_row,
                  int first_col, int end_col) {
  for (int row = first_row; row < end_row; row += kTileRows, left += kTileRows * pass.steps) {
    const int last_row = row + kTileRows - 1;
    const Word* columns = right;
    for (int col = first_col; col < end_col && col <= last_row; col += kTileCols) {
      if (col + kTileCols <= row && last_row < pass.g.size) {
        pass.arithmetic.tile(left, columns, pass.steps, pass.g.row(row) + col, pass.g.stride);
      } else {
        update_edge(pass, left, columns, row, col);
      }
      columns += kTileCols * pass.steps;
    }
  }
}

void update_band(const Pass& pass, int first_row) {
  alignas(64) Word left[kBandWords];
  alignas(64) Word right[kBlockWords];
  const auto cols_of = [&](int words) { return words / pass.steps / kTileCols * kTileCols; };
  const int block_cols = std::min(kMaxBlockCols, cols_of(kBlockWords));
  const int strip_cols = std::max(kTileCols, cols_of(kStripWords));
  const int end_row = std::min(first_row + pass.band_rows, pass.g.size);

  pass.arithmetic.pack_rows(pass.h, first_row, end_row - first_row, pass.sign, left);
  for (int block = 0; block < end_row; block += block_cols) {
    const int end_block = std::min(block + block_cols, end_row);  // nothing right of the diagonal
    pass.arithmetic.pack_cols(pass.h, block, end_block - block, 1.0f, right);
    for (int strip = block; strip < end_block; strip += strip_cols) {
      update_strip(pass, left, right + (strip - block) * pass.steps, first_row, end_row, strip,
                   std::min(strip + strip_cols, end_block));
    }
  }
}

using AddMultiple = void(float factor, const float* values, int count, float* sums);

void add_multiple(float factor, const float* __restrict values, int count, float* __restrict sums) {
  for (int i = 0; i < count; ++i) sums[i] += factor * values[i];
}
#if defined(__x86_64__)
ENGRAM_AVX2 void add_multiple_avx2(float factor, const float* __restrict values, int count,
                                   float* __restrict sums) {
  for (int i = 0; i < count; ++i) sums[i] += factor * values[i];
}
#endif

// One frame: each row of G gains a multiple of it, with nothing to pack.
void update_by_frame(const float* h, float sign, GramView g) {
  AddMultiple* add = add_multiple;
#if defined(__x86_64__)
  if (simd() == Simd::avx2) add = add_multiple_avx2;
#endif
  parallel_for(g.size, kMinBandRows, [&](int begin, int end) {
    for (int r = begin; r < end; ++r) {
      add(sign * h[r], h, r, g.row(r));
      g.diagonal[r] += sign * h[r] * h[r];
    }
  });
}

void update_by_blas(const Pass& pass) {
  // G's diagonal takes its place in the buffer for as long as OpenBLAS works on it.
  const GramView g = pass.g;
  for (int m = 0; m < g.size; ++m) std::swap(g.diagonal[m], g.row(m)[m]);
  add_gram_lower(pass.sign, pass.h, {g.data, g.size, g.size, g.stride});
  for (int m = 0; m < g.size; ++m) std::swap(g.diagonal[m], g.row(m)[m]);
}

}  // namespace

Status gram_update(Stream /*stream*/, MatrixView<const float> h, float sign, GramView g) {
  ENGRAM_CHECK(h.cols == g.size);
  if (g.size == 0) return Status();
  if (h.rows == 1) return update_by_frame(h.data, sign, g), Status();
  for (int frame = 0; frame < h.rows; frame += kPassFrames) {
    const int batch = std::min(kPassFrames, h.rows - frame);
    const Pass pass(h.row_range(frame, batch), sign, g);
    if (batch >= kBlasFrames && pass.arithmetic.frames_per_step == 1) {
      update_by_blas(pass);
      continue;
    }
    const int bands = (g.size + pass.band_rows - 1) / pass.band_rows;
    parallel_for(bands, 1, [&](int begin, int end) {
      // The longest band, which is the last, first: so the threads end at about the same time.
      for (int i = begin; i < end; ++i) update_band(pass, (bands - 1 - i) * pass.band_rows);
    });
  }
  return Status();
}

}  // namespace engram::cpu
