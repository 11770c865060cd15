// Constants of ONNX graphs: TensorProto, and what operations called Constant hold.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "platform/onnx_graph.h"
#include "platform/status.h"

namespace engram {

// bad_data: shape and data disagree, or the data is in another file.
Result<OnnxConstant> read_onnx_tensor(std::span<const std::byte> tensor, const std::string& name);
// The value of a Constant operation: a tensor, a number or a list of numbers.
Result<OnnxConstant> read_onnx_constant(const OnnxNode& node, const std::string& name);
// A TensorProto called `tensor`: float32 or float16 (as named by `as`) from the values, other types
// as they came.
std::string write_onnx_constant(const OnnxConstant& constant, OnnxType as,
                                const std::string& tensor);

}  // namespace engram
