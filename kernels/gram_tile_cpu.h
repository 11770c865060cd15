// The innermost piece of gram_update: one tile of G gains the products of two strips of h.
//
//     tile[r,c] += sum over b of left[b,r] * right[b,c]        r < kTileRows, c < kTileCols
//
// Two arithmetics. `real` multiplies and adds floats. `whole` is for whole numbers of at most 255,
// the hidden units of the `exact` arithmetic: pairs of frames as two 16-bit halves of a word, for
// instructions that multiply and add such pairs at twice the rate of floats. A pass of 256 frames
// stays below 256 * 255^2 < 2^24, so both give the same bits.
//
// A strip is packed without gaps: one step after another, in each step one 4-byte word per row or
// column. real: a step is a frame, the word a float. whole: a step is two frames, the low and the
// high half of the word. left already has the sign of the update.
#pragma once

#include <cstddef>

#include "platform/matrix_view.h"

namespace engram::cpu {

inline constexpr int kTileRows = 6;  // with 16 columns, 12 AVX2 or 24 NEON registers of sums
inline constexpr int kTileCols = 16;
inline constexpr int kPassFrames = 256;  // frames per pass over G, at most
inline constexpr float kLargestWhole = 255.0f;

// Packs the columns [first, first + cols) of h, times factor, as strips of kTileRows or kTileCols;
// the last strip is filled up with zeros.
using GramPack = void(MatrixView<const float> h, int first, int cols, float factor, void* packed);
// right and left are packed, `steps` long; right is 32-byte aligned.
using GramTile = void(const void* left, const void* right, int steps, float* tile,
                      std::ptrdiff_t stride);

struct GramArithmetic {
  int frames_per_step;
  GramPack* pack_rows;
  GramPack* pack_cols;
  GramTile* tile;

  int steps(int frames) const { return (frames + frames_per_step - 1) / frames_per_step; }
};

// The best for cpu::simd() that can hold these numbers: looks at every element of h.
GramArithmetic choose_gram_arithmetic(MatrixView<const float> h);

}  // namespace engram::cpu
