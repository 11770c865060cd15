// Operations that only move values: Reshape, Transpose, Squeeze, Unsqueeze, Flatten, Slice, Split,
// Gather with known indices, Expand, Tile, and those that change nothing.
//
// Each is one table: which value of the input stands at each place of the output. So any chain of
// them, however an exporter wrote it, is one table too, and can be compared with what it should be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/onnx_graph.h"
#include "platform/status.h"
#include "tools/convert/vit_tensor.h"

namespace engram {

// Output value at the coordinates c0, c1, ... is input value axes[0][c0] + axes[1][c1] + ...
struct Movement {
  Dims dims;          // of the output
  bool flat = false;  // the order of values stays: `axes` is empty
  std::vector<std::vector<std::int64_t>> axes;

  // The source of each output value, in order.
  std::vector<std::int32_t> sources() const;
};

// A node's inputs as far as they are known; null where they depend on the picture.
using MoveConstants = std::vector<const FoldedTensor*>;

bool moves_values(const std::string& operation);
// What making the tables costs a WorkBudget: they are as long as the axes, which a hostile file makes
// as long as it likes.
std::int64_t movement_cost(const Dims& dims);

// `dims`: of its first input; `output`: which one (Split has several). not_supported: by indices or
// shapes that are not known, or do not fit.
Result<Movement> movement(const OnnxNode& node, const MoveConstants& constants, const Dims& dims,
                          int output);

}  // namespace engram
