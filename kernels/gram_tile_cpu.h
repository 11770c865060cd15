// The innermost piece of gram_update: one tile of G gains the products of two strips of h.
//
//     tile[r,c] += sum over b of left[b,r] * right[b,c]        r < kTileRows, c < kTileCols
//
// left (batch, kTileRows) and right (batch, kTileCols) are packed without gaps; left already has
// the sign. The sum over b is taken in registers and added to G once. Whole numbers below 2^24 are
// exact however a machine multiplies and adds.
#pragma once

#include <cstddef>

namespace engram::cpu {

inline constexpr int kTileRows = 6;  // with 16 columns, 12 AVX2 or 24 NEON registers of sums
inline constexpr int kTileCols = 16;

using GramTile = void(const float* left, const float* right, int batch, float* tile,
                      std::ptrdiff_t stride);
GramTile gram_tile_portable;
GramTile gram_tile_avx2;  // x86_64 only
GramTile gram_tile_neon;  // aarch64 only

GramTile* best_gram_tile();  // for cpu::simd()

}  // namespace engram::cpu
