// sign_project: quantised features through weights that are only signs.
//
//     p[b,m] = sum over l of W[l,m] * q[b,l],     W[l,m] in {-1, +1}
//
// This is RanPAC's random projection with the Gaussian W replaced by its signs. Both have unit
// variance, so no scale factor is needed; W shrinks from 4 bytes to 1 bit per weight.
//
//   name   shape     type            meaning
//   q      (B, L)    int8            quantised features, -127..127, one row per picture
//   w      (R, M)    SignMatrixView  packed signs, R = ceil(L / 32) words
//   p      (B, M)    int32           projections, written in full; |p| <= 127 L < 2^24
//
// Layout of w. Word (k, m) holds the signs of W[32k, m] ... W[32k+31, m]; bit j, counted from the
// least significant, is W[32k+j, m]; 1 means +1, 0 means -1. Neighbouring m are neighbouring words,
// so 32 GPU threads (or 8 SIMD lanes) that own neighbouring m read one contiguous line. The format
// is the same on every backend. Bits for l >= L may hold anything.
//
//            m = 0      m = 1      m = 2
//     k=0  | l 0..31  | l 0..31  | l 0..31  | ...
//     k=1  | l 32..63 | l 32..63 | l 32..63 | ...
//
// Numerics. Whole numbers: every backend returns the same values.
// Memory. Reads L * M / 8 bytes of weights at batch 1, 32 times less than float weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/matrix_view.h"
#include "platform/status.h"
#include "platform/stream.h"

namespace engram {

struct SignMatrixView {
  const std::uint32_t* words = nullptr;  // (R, M), borrowed
  int inputs = 0;                        // L
  int outputs = 0;                       // M

  ENGRAM_HOST_DEVICE int word_rows() const { return (inputs + 31) / 32; }  // R
  ENGRAM_HOST_DEVICE std::uint32_t word(int k, int m) const {
    return words[std::ptrdiff_t{outputs} * k + m];
  }
};

// One signature for all backends: a backend that drifts from it does not link.
using SignProject = Status(Stream stream, MatrixView<const std::int8_t> q, SignMatrixView w,
                           MatrixView<std::int32_t> p);

namespace cpu {
SignProject sign_project;  // sign_project_cpu.cpp
}
namespace cuda {
SignProject sign_project;  // sign_project.cu, compiled by nvcc
}
namespace simt {
SignProject sign_project;  // sign_project.cu, compiled by the host compiler
}

}  // namespace engram
