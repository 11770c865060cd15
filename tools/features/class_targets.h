// Regression targets: a vector for each class, such as the text encoder's for its name.
//
// An .npz with arrays embeddings (K, D) and names (K) text. A class is found by its name; one that
// has only a number takes the row of that number.
#pragma once

#include <string>
#include <vector>

#include "platform/matrix_view.h"
#include "platform/status.h"

namespace engram {

struct ClassTargets {
  std::vector<float> values;  // (K, width), in the order of the classes asked for
  int width = 0;              // D
  MatrixView<const float> view() const {
    return {values.data(), width == 0 ? 0 : int(values.size()) / width, width, width};
  }
};

// bad_data: a class without a row, another number of rows than names, NaN, a row of zeros.
Result<ClassTargets> read_class_targets(const std::string& path,
                                        const std::vector<std::string>& classes);

}  // namespace engram
