// The operators that encoders are made of, and the types of what they give.
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "platform/onnx_graph.h"
#include "platform/protobuf_reader.h"

namespace engram {

namespace {

using Names = std::set<std::string_view>;

// What comes out has the type of what goes in first.
const Names kLikeFirst{"Abs",
                       "Add",
                       "Attention",
                       "AveragePool",
                       "BatchNormalization",
                       "Ceil",
                       "Celu",
                       "Clip",
                       "Concat",
                       "Conv",
                       "ConvTranspose",
                       "Cos",
                       "DepthToSpace",
                       "Div",
                       "Einsum",
                       "Elu",
                       "Erf",
                       "Exp",
                       "Expand",
                       "Flatten",
                       "Floor",
                       "Gather",
                       "GatherElements",
                       "GatherND",
                       "Gelu",
                       "Gemm",
                       "GlobalAveragePool",
                       "GlobalMaxPool",
                       "GroupNormalization",
                       "HardSigmoid",
                       "HardSwish",
                       "Identity",
                       "InstanceNormalization",
                       "LayerNormalization",
                       "LeakyRelu",
                       "Log",
                       "LogSoftmax",
                       "LpNormalization",
                       "MatMul",
                       "Max",
                       "Mean",
                       "Min",
                       "Mish",
                       "Mod",
                       "Mul",
                       "Neg",
                       "PRelu",
                       "Pad",
                       "Pow",
                       "Range",
                       "Reciprocal",
                       "ReduceL1",
                       "ReduceL2",
                       "ReduceLogSum",
                       "ReduceLogSumExp",
                       "ReduceMax",
                       "ReduceMean",
                       "ReduceMin",
                       "ReduceProd",
                       "ReduceSum",
                       "ReduceSumSquare",
                       "Relu",
                       "Reshape",
                       "Resize",
                       "Round",
                       "ScatterElements",
                       "ScatterND",
                       "Selu",
                       "Sigmoid",
                       "Sign",
                       "Sin",
                       "Slice",
                       "Softmax",
                       "Softplus",
                       "Softsign",
                       "SpaceToDepth",
                       "Split",
                       "Sqrt",
                       "Squeeze",
                       "Sub",
                       "Sum",
                       "Tan",
                       "Tanh",
                       "ThresholdedRelu",
                       "Tile",
                       "Transpose",
                       "Trilu",
                       "Unsqueeze"};
const Names kTrueOrFalse{"And",   "Equal", "Greater", "GreaterOrEqual",
                         "IsInf", "IsNaN", "Less",    "LessOrEqual",
                         "Not",   "Or",    "Xor"};
const Names kCounts{"ArgMax", "ArgMin", "NonZero", "Shape", "Size"};

// ConstantOfShape gives the type of its attribute `value`, floats without one.
OnnxType type_of_value(const OnnxNode& node) {
  OnnxType type = OnnxType::float32;
  const OnnxAttribute value = onnx_attribute(node, "value");
  ProtobufReader tensor(value.tensor);
  for (ProtobufField part; tensor.next(part);) {  // data_type 2
    if (part.number == 2 && !part.is_bytes) type = static_cast<OnnxType>(part.value);
  }
  return type;
}

}  // namespace

Result<std::vector<OnnxType>> output_types(const OnnxNode& node,
                                           const std::map<std::string, OnnxType>& types) {
  const auto input = [&](std::size_t index) {
    const auto found = index < node.inputs.size() ? types.find(node.inputs[index]) : types.end();
    return found == types.end() ? OnnxType::unknown : found->second;
  };
  const auto all = [&](OnnxType type) { return std::vector<OnnxType>(node.outputs.size(), type); };
  const std::string& name = node.operation;
  if (kLikeFirst.count(name) != 0) return all(input(0));
  if (kTrueOrFalse.count(name) != 0) return all(OnnxType::boolean);
  if (kCounts.count(name) != 0) return all(OnnxType::int64);
  if (name == "Where") return all(input(1));
  if (name == "Cast") return all(static_cast<OnnxType>(onnx_attribute(node, "to").whole));
  if (name == "ConstantOfShape") return all(type_of_value(node));
  if (name == "Dropout") {  // and what it kept
    auto result = all(OnnxType::boolean);
    if (!result.empty()) result[0] = input(0);
    return result;
  }
  if (name == "MaxPool" || name == "TopK") {  // and where it was found
    auto result = all(OnnxType::int64);
    if (!result.empty()) result[0] = input(0);
    return result;
  }
  return Status(Code::not_supported,
                fmt::format("the operator {} is not known to the conversion", name));
}

}  // namespace engram
