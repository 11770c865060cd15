// combine_rows with bytes and many sums, where multiplying is all the work.
#pragma once

#include "kernels/kept_view.h"
#include "platform/matrix_view.h"

namespace engram::cpu {

inline constexpr int kCombineCols = 64;   // columns of a tile: a line of the cache of every sample
inline constexpr int kCombineRows = 128;  // samples of a tile

#if defined(__x86_64__)
// Columns [first, first + width) of `sums`, width <= kCombineCols; kept has bytes.
void combine_bytes_avx2(MatrixView<const float> weights, KeptView kept, int first, int width,
                        MatrixView<float> sums);
#endif

}  // namespace engram::cpu
