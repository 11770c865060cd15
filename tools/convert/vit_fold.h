// Computes operations whose inputs are constants: shapes, indices, scales, positions, weights that
// are cast or transposed. For a picture of a known size all of these are known.
#pragma once

#include <vector>

#include "platform/onnx_graph.h"
#include "platform/status.h"
#include "tools/convert/vit_tensor.h"

namespace engram {

// The outputs of `node`; an input that it leaves out is null. not_supported: an operation that is
// not known here.
Result<std::vector<FoldedTensor>> fold_node(const OnnxNode& node,
                                            const std::vector<ConstantTensor>& inputs,
                                            WorkBudget& budget);

// Whether fold_elementwise knows the operation.
bool is_elementwise(const std::string& operation);
// Value by value with numpy's broadcasting: arithmetic, comparisons, functions, Where. Whole
// numbers wrap around at 64 bits; a division by zero gives 0.
Result<FoldedTensor> fold_elementwise(const OnnxNode& node,
                                      const std::vector<ConstantTensor>& inputs,
                                      WorkBudget& budget);
// One number of it, for whoever evaluates the same operations on other values. `in` has the
// operation's numbers of inputs, 1 to 3. NaN: not known.
double elementwise(const std::string& operation, const double* in, std::size_t count);

// Pictures of positions made larger or smaller: linear and cubic, without antialiasing.
Result<FoldedTensor> fold_resize(const OnnxNode& node, const std::vector<ConstantTensor>& inputs,
                                 WorkBudget& budget);

}  // namespace engram
