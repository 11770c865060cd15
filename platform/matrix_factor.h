// A matrix as it is, or turned (transposed) while it is read: a factor of a product.
#pragma once

#include "platform/matrix_view.h"

namespace engram {

struct MatrixFactor {
  MatrixView<const float> matrix;
  bool is_turned = false;
  int rows() const { return is_turned ? matrix.cols : matrix.rows; }
  int cols() const { return is_turned ? matrix.rows : matrix.cols; }
};

inline MatrixFactor plain(MatrixView<const float> matrix) {
  return {matrix, false};
}
inline MatrixFactor turned(MatrixView<const float> matrix) {
  return {matrix, true};
}

}  // namespace engram
