// Hidden units as they are kept: bytes in the `exact` arithmetic, floats in the `floating` one.
//
//   bytes    (N, M) uint8    whole numbers 0..255, row-major, back to back
//   floats   (N, M) float    the same in real numbers; exactly one of the two is set
//
// A learner that keeps its samples keeps their hidden units in blocks of rows of this kind: at one
// byte each they cost a quarter of floats, and a product of two rows is a sum of whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/matrix_view.h"

namespace engram {

struct KeptView {
  const std::uint8_t* bytes = nullptr;
  const float* floats = nullptr;
  int rows = 0;  // N
  int cols = 0;  // M; also elements from one row to the next

  ENGRAM_HOST_DEVICE const std::uint8_t* byte_row(int r) const {
    return bytes + std::ptrdiff_t{cols} * r;
  }
  ENGRAM_HOST_DEVICE const float* float_row(int r) const {
    return floats + std::ptrdiff_t{cols} * r;
  }
  MatrixView<const float> float_rows() const { return {floats, rows, cols, cols}; }
  ENGRAM_HOST_DEVICE double at(int r, int c) const {
    return bytes != nullptr ? double(byte_row(r)[c]) : double(float_row(r)[c]);
  }
  // Rows [first, first + count).
  ENGRAM_HOST_DEVICE KeptView row_range(int first, int count) const {
    return bytes != nullptr ? KeptView{byte_row(first), nullptr, count, cols}
                            : KeptView{nullptr, float_row(first), count, cols};
  }
};

}  // namespace engram
