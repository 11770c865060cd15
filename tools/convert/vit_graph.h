// An encoder's graph for one picture of a known size, with everything computed that does not depend
// on the picture's values: shapes, indices, positions, casts. What is left is a short list of
// operations with known shapes, in which exporters differ little.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "platform/onnx_graph.h"
#include "platform/status.h"
#include "tools/convert/vit_tensor.h"

namespace engram {

struct VitOperand {
  int node = -1;            // in VitGraph::nodes; -1: a constant, or left out
  ConstantTensor constant;  // null: a node, or left out
};

struct VitNode {
  const OnnxNode* onnx = nullptr;  // null: the picture
  int output = 0;                  // which one of the operation's
  std::vector<VitOperand> inputs;
  Dims dims;
  bool needed = false;  // by the output; others only gave their shape

  bool is(const char* operation) const { return onnx && onnx->operation == operation; }
};

struct VitGraph {
  OnnxGraph onnx;  // nodes point into it: move it, never copy it
  std::int64_t opset = 0;
  std::vector<VitNode> nodes;  // each after its inputs; the picture (1, 3, image, image) first
  int output = 0;
};

// not_supported: an operation that no plain Vision Transformer has, or another size of picture than
// the file takes. Sentences begin in lower case and name no file.
Result<VitGraph> simplify(OnnxGraph onnx, int image);

// In vit_shapes.cpp, for simplify: the shape of what an operation gives that is neither moved nor
// constant; what Shape and Size give; the sizes in a ValueInfoProto, 0 where they are left open.
Result<Dims> result_dims(const OnnxNode& node, const std::vector<Dims>& inputs);
ConstantTensor sizes_of(const OnnxNode& node, const Dims& dims);
Dims stated_dims(std::span<const std::byte> value_info, std::size_t depth = 0);

}  // namespace engram
