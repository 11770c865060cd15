// Weights of a Vision Transformer as the matrices that operations take.
#pragma once

#include "engine/vit_model.h"
#include "platform/matrix_view.h"

namespace engram {

// (1, n), or no rows where there is none.
inline MatrixView<const float> row_of(const BufferVector<float>& values) {
  const int count = int(values.size());
  return {values.data(), count == 0 ? 0 : 1, count, count};
}
// (O, inputs)
inline MatrixView<const float> weight_of(const VitLinear& linear, int inputs) {
  return {linear.weight.data(), int(linear.weight.size() / std::size_t(inputs)), inputs, inputs};
}
// Rows of class tokens of a matrix with `tokens` rows for each picture.
template <class T>
MatrixView<T> class_rows(MatrixView<T> x, int tokens) {
  return {x.data, x.rows / tokens, x.cols, x.stride * tokens};
}

}  // namespace engram
