// kernel_rows: rows of the kernel matrix of kept samples.
//
//     k[b,n] = sum over m of left[b,m] * right[n,m]
//
//   name    shape    type       meaning
//   left    (B, M)   KeptView   hidden units of the samples whose rows are wanted
//   right   (N, M)   KeptView   hidden units of the samples they are compared with; same kind
//   k       (B, N)   float      written in full
//
// Numerics. Bytes: the sum is taken in whole numbers (at most 20 000 * 255^2 < 2^31) and rounded
// once, to float: every backend returns the same values, exact below 2^24. Floats: a float GEMM.
// Memory. Reads N * M bytes at B = 1: as fast as memory is.
#pragma once

#include "kernels/kept_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

// One signature for all backends: a backend that drifts from it does not link.
using KernelRows = Status(Stream stream, KeptView left, KeptView right, MatrixView<float> k);

namespace cpu {
KernelRows kernel_rows;  // kernel_rows_cpu.cpp
}
namespace cuda {
KernelRows kernel_rows;  // kernel_rows.cu, compiled by nvcc
}
namespace simt {
KernelRows kernel_rows;  // kernel_rows.cu, compiled by the host compiler
}

}  // namespace engram
