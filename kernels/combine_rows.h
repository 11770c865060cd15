// combine_rows: adds weighted sums of kept samples' hidden units, in place.
//
//     sums[r,m] += sum over n of weights[r,n] * kept[n,m]
//
//   name      shape    type       meaning
//   weights   (R, N)   float      of each sample in each sum
//   kept      (N, M)   KeptView   hidden units
//   sums      (R, M)   float      added to: samples that lie in several blocks are several calls
//
// The readout of kept samples: Wo (K, M) = AT H with (H HT + lambda I) A = Y.
//
// Numerics. Float sums within a tile of 128 samples, tile after tile: the same bits for
// every thread count. Bytes become floats on the way, exactly.
#pragma once

#include "kernels/kept_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using CombineRows = Status(Stream stream, MatrixView<const float> weights, KeptView kept,
                           MatrixView<float> sums);

namespace cpu {
CombineRows combine_rows;  // combine_rows_cpu.cpp
}
namespace cuda {
CombineRows combine_rows;  // combine_rows.cu, compiled by nvcc
}
namespace simt {
CombineRows combine_rows;  // combine_rows.cu, compiled by the host compiler
}

}  // namespace engram
