// patches: pictures to rows of pixels, one for each square that a vision transformer sees as a token.
//
//     rows[b * N*N + i*N + j, (c * patch + y) * patch + x] = pictures[b, (c * side + i*patch + y) * side + j*patch + x]
//
//   name       shape                         type     meaning
//   pictures   (B, 3 * side * side)          float    input tensors, channel after channel
//   side                                     int      of a picture, in pixels; a multiple of patch
//   patch                                    int      side of a square; N = side / patch
//   rows       (B * N * N, 3 * patch * patch) float   written in full; a row is in the order of a
//                                                     convolution's weights (O, 3, patch, patch)
//
// So that the convolution is linear's product with these weights. Numerics: copies, to the bit.
#pragma once

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using Patches = Status(Stream stream, MatrixView<const float> pictures, int side, int patch,
                       MatrixView<float> rows);

namespace cpu {
Patches patches;  // patches_cpu.cpp
}
namespace cuda {
Patches patches;  // patches.cu, compiled by nvcc
}
namespace simt {
Patches patches;  // patches.cu, compiled by the host compiler
}

}  // namespace engram
