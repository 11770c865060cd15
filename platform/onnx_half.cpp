#include "platform/onnx_half.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "platform/half.h"
#include "platform/onnx_constant.h"
#include "platform/onnx_graph.h"
#include "platform/protobuf_writer.h"

namespace engram {

namespace {

using Names = std::set<std::string_view>;

const Names kFloatOnly{"ConstantOfShape",
                       "Exp",
                       "GlobalAveragePool",
                       "GroupNormalization",
                       "InstanceNormalization",
                       "LayerNormalization",
                       "Log",
                       "LogSoftmax",
                       "LpNormalization",
                       "Mean",
                       "Pow",
                       "Range",
                       "Reciprocal",
                       "ReduceL1",
                       "ReduceL2",
                       "ReduceLogSum",
                       "ReduceLogSumExp",
                       "ReduceMean",
                       "ReduceProd",
                       "ReduceSum",
                       "ReduceSumSquare",
                       "Resize",
                       "Sqrt"};
// Take what comes; between floats they stay float.
const Names kMoves{"Concat",   "DepthToSpace", "Expand", "Flatten",   "Gather", "GatherElements",
                   "GatherND", "Identity",     "Pad",    "Reshape",   "Slice",  "SpaceToDepth",
                   "Split",    "Squeeze",      "Tile",   "Transpose", "Trilu",  "Unsqueeze"};
const Names kArithmetic{"Add", "Div", "Mul", "Sub"};

// Whether half holds the constant: as infinity or 0 it would be another one. In a tensor of many
// values small ones may vanish beside the others.
bool fits_half(const OnnxConstant& constant) {
  if (constant.type != OnnxType::float32) return true;
  const bool single = constant.values.size() == 1;
  return std::all_of(constant.values.begin(), constant.values.end(), [&](float value) {
    if (std::isfinite(value) && std::isinf(rounded_to_half(value))) return false;
    return !single || value == 0 || rounded_to_half(value) != 0;
  });
}

class Converter {
 public:
  explicit Converter(OnnxGraph graph) : graph_(std::move(graph)) {}
  Status check_types(const std::string& name) const;
  HalfOnnx run();

 private:
  bool is_float(const std::string& tensor) const {
    const auto found = graph_.types.find(tensor);
    return found != graph_.types.end() && found->second == OnnxType::float32;
  }
  bool touches_floats(const OnnxNode& node) const;
  bool computes_in_half(const OnnxNode& node) const;
  void choose_names();
  void choose_precisions();
  std::string named(const std::string& tensor, bool half) const {
    return half && is_float(tensor) ? tensor + suffix_ : tensor;
  }
  void need(const std::string& tensor, bool half);
  void put_cast(const std::string& tensor, bool to_half);
  void put_node(const OnnxNode& node, bool half);
  std::string whole_file();

  OnnxGraph graph_;
  std::string suffix_;                            // of a tensor's half twin
  std::vector<bool> in_half_;                     // by node
  std::set<std::string> made_half_;               // tensors whose first form is half
  std::set<std::string> read_by_float_;           // tensors that an operation of kFloatOnly reads
  std::set<std::pair<std::string, bool>> there_;  // forms that exist at this point of the graph
  std::string body_;                              // the GraphProto being written
  HalfOnnx result_;
};

Status Converter::check_types(const std::string& name) const {
  for (const auto& [tensor, type] : graph_.types) {
    if (type == OnnxType::float16 || type == OnnxType::bfloat16 || type == OnnxType::float64) {
      return Status(Code::not_supported,
                    fmt::format("{}: the tensor \"{}\" is not of 32-bit floats; a model of mixed "
                                "precision is used as it is",
                                name, tensor));
    }
  }
  if (!is_float(graph_.output)) {
    return Status(Code::not_supported, fmt::format("{}: its features are not floats", name));
  }
  return {};
}

bool Converter::touches_floats(const OnnxNode& node) const {
  const auto is = [&](const std::string& tensor) { return is_float(tensor); };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is);
}

bool Converter::computes_in_half(const OnnxNode& node) const {
  if (kFloatOnly.count(node.operation) != 0) return false;
  bool any = false, any_float = false, any_half = false;  // among inputs that are no constants
  for (const std::string& input : node.inputs) {
    if (!is_float(input)) continue;
    if (const auto found = graph_.constants.find(input); found != graph_.constants.end()) {
      if (!fits_half(found->second)) return false;
      continue;
    }
    any = true;
    (made_half_.count(input) != 0 ? any_half : any_float) = true;
  }
  if (node.operation == "Cast") {  // to floats: says so itself
    return any_half && !is_float(node.outputs.front());
  }
  const bool moves = kMoves.count(node.operation) != 0;
  // The picture is the one float that is not the result of an operation kept in float.
  const bool from_picture = std::count(node.inputs.begin(), node.inputs.end(), graph_.input) != 0;
  if (!moves && kArithmetic.count(node.operation) == 0) return true;
  if (from_picture) return !moves;
  if (any && !any_half) return false;
  return moves || !(any_float && std::any_of(node.outputs.begin(), node.outputs.end(),
                                             [&](const std::string& output) {
                                               return read_by_float_.count(output) != 0;
                                             }));
}

void Converter::choose_names() {
  const auto taken = [&](const std::string& suffix) {
    return std::any_of(graph_.types.begin(), graph_.types.end(),
                       [&](const auto& tensor) { return tensor.first.ends_with(suffix); });
  };
  for (suffix_ = "_half"; taken(suffix_);) suffix_ += "_";
}

void Converter::choose_precisions() {
  for (const OnnxNode& node : graph_.nodes) {
    if (kFloatOnly.count(node.operation) == 0) continue;
    read_by_float_.insert(node.inputs.begin(), node.inputs.end());
  }
  for (const OnnxNode& node : graph_.nodes) {
    const bool floats = touches_floats(node);
    const bool half = floats && computes_in_half(node);
    in_half_.push_back(half);
    if (half) {
      for (const std::string& output : node.outputs) {
        if (is_float(output)) made_half_.insert(output);
      }
    }
    if (floats && kMoves.count(node.operation) == 0) {
      ++(half ? result_.half_operations : result_.float_operations);
    }
  }
}

void Converter::put_cast(const std::string& tensor, bool to_half) {
  std::string attribute;  // name 1, i 3, type 20 (INT 2)
  put_bytes(attribute, 1, "to");
  put_whole(attribute, 3, std::int64_t(to_half ? OnnxType::float16 : OnnxType::float32));
  put_whole(attribute, 20, 2);
  std::string node;  // input 1, output 2, name 3, op_type 4, attribute 5
  put_bytes(node, 1, named(tensor, !to_half));
  put_bytes(node, 2, named(tensor, to_half));
  put_bytes(node, 3, named(tensor, to_half) + "/cast");
  put_bytes(node, 4, "Cast");
  put_bytes(node, 5, attribute);
  put_bytes(body_, 1, node);
  ++result_.casts;
}

// Makes sure that the tensor is there in this form: a constant is written, another one cast.
void Converter::need(const std::string& tensor, bool half) {
  if (tensor.empty()) return;
  if (!is_float(tensor)) half = false;
  if (!there_.emplace(tensor, half).second) return;
  if (const auto found = graph_.constants.find(tensor); found != graph_.constants.end()) {
    put_bytes(body_, 5,
              write_onnx_constant(found->second, half ? OnnxType::float16 : OnnxType::float32,
                                  named(tensor, half)));
  } else {
    put_cast(tensor, half);
  }
}

void Converter::put_node(const OnnxNode& node, bool half) {
  for (const std::string& input : node.inputs) need(input, half);
  std::string bytes;
  for (const std::string& input : node.inputs) put_bytes(bytes, 1, named(input, half));
  for (const std::string& output : node.outputs) {
    put_bytes(bytes, 2, named(output, half));
    there_.emplace(output, half && is_float(output));
  }
  put_bytes(bytes, 3, named(node.outputs.front(), half));
  put_bytes(bytes, 4, node.operation);
  for (const auto attribute : node.attributes) put_bytes(bytes, 5, attribute);
  put_bytes(body_, 1, bytes);
}

std::string Converter::whole_file() {
  put_bytes(body_, 2, "half");  // the graph's name, which it must have
  put_bytes(body_, 11, graph_.input_definition);
  if (!graph_.output_definition.empty()) {
    put_bytes(body_, 12, graph_.output_definition);
  } else {  // ValueInfoProto: name 1, type 2 > tensor_type 1 > elem_type 1
    std::string tensor, type, info;
    put_whole(tensor, 1, std::int64_t(OnnxType::float32));
    put_bytes(type, 1, tensor);
    put_bytes(info, 1, graph_.output);
    put_bytes(info, 2, type);
    put_bytes(body_, 12, info);
  }
  std::string file;  // ir_version 1, producer_name 2, graph 7, opset_import 8
  put_whole(file, 1, graph_.ir_version);
  put_bytes(file, 2, "engram");
  for (const auto opset : graph_.opsets) put_bytes(file, 8, opset);
  put_bytes(file, 7, body_);
  return file;
}

HalfOnnx Converter::run() {
  choose_names();
  choose_precisions();
  there_.emplace(graph_.input, false);
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) put_node(graph_.nodes[i], in_half_[i]);
  need(graph_.output, false);
  result_.file = whole_file();
  return std::move(result_);
}

}  // namespace

Result<HalfOnnx> onnx_to_half(std::span<const std::byte> file, const std::string& name,
                              const std::string& output) {
  ENGRAM_ASSIGN(OnnxGraph graph, read_onnx_graph(file, name, output));
  Converter converter(std::move(graph));
  ENGRAM_TRY(converter.check_types(name));
  return converter.run();
}

}  // namespace engram
