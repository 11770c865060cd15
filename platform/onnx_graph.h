// An ONNX file's main graph, cut down to what one tensor needs, and the types of its tensors.
//
// For files that were checked (the tools' onnx_check) and are to be changed: written in another
// precision (onnx_half.h), read as a Vision Transformer. Names and raw data borrow from the file's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "platform/status.h"

namespace engram {

// Of TensorProto.DataType, those that have a meaning here; others are carried as they are.
enum class OnnxType : std::int32_t {
  unknown = 0,
  float32 = 1,
  int32 = 6,
  int64 = 7,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  bfloat16 = 16,
};

struct OnnxConstant {
  std::vector<std::int64_t> dims;
  OnnxType type = OnnxType::unknown;
  std::vector<float> values;  // of float32 and float16
  std::string definition;     // of other types: the TensorProto
};

struct OnnxNode {
  std::string operation;
  std::vector<std::string> inputs;  // "": left out
  std::vector<std::string> outputs;
  std::vector<std::span<const std::byte>> attributes;  // AttributeProto each
};

struct OnnxGraph {
  std::int64_t ir_version = 0;
  std::vector<std::span<const std::byte>> opsets;  // OperatorSetIdProto each
  std::vector<OnnxNode> nodes;  // in an order in which each finds its inputs; no Constant
  std::map<std::string, OnnxConstant> constants;
  std::map<std::string, OnnxType> types;        // of every tensor
  std::string input;                            // the picture: one, of float32
  std::span<const std::byte> input_definition;  // ValueInfoProto
  std::string output;
  std::span<const std::byte> output_definition;  // empty: an inner tensor
};

// `output`: the tensor to keep; empty: the only output. bad_data: damaged, or no such tensor.
// not_supported: operators whose types are not known here, subgraphs, operators of other domains.
// Messages begin with `name`.
Result<OnnxGraph> read_onnx_graph(std::span<const std::byte> file, const std::string& name,
                                  const std::string& output);

// The type of each output, by the operator's rule; not_supported for an operator without a rule.
Result<std::vector<OnnxType>> output_types(const OnnxNode& node,
                                           const std::map<std::string, OnnxType>& types);

}  // namespace engram
