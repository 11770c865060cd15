// Attributes of ONNX operations, of every kind that encoders use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/onnx_graph.h"

namespace engram {

struct OnnxAttribute {
  bool given = false;  // false: the node has no attribute of that name, and all below is empty
  std::int64_t whole = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> wholes;
  std::span<const std::byte> tensor;  // TensorProto
};

OnnxAttribute onnx_attribute(const OnnxNode& node, const std::string& name);

// The version of the standard operators that a graph was written for; 0: not told.
std::int64_t standard_opset(const OnnxGraph& graph);

}  // namespace engram
