#include "platform/onnx_graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "platform/half.h"
#include "platform/onnx_attribute.h"
#include "platform/onnx_constant.h"
#include "platform/protobuf_reader.h"

namespace engram {

namespace {

using Bytes = std::span<const std::byte>;

// What the file says, before anything is chosen from it.
struct RawGraph {
  std::vector<OnnxNode> nodes;
  std::map<std::string, Bytes> initializers;                   // TensorProto
  std::vector<std::pair<std::string, Bytes>> inputs, outputs;  // ValueInfoProto
};

class Reader {
 public:
  Reader(const std::string& name, const std::string& output) : name_(name) {
    graph_.output = output;
  }
  Result<OnnxGraph> run(Bytes file);

 private:
  Status broken(const std::string& what) const {
    return Status(Code::bad_data, fmt::format("{}: {}", name_, what));
  }
  Status not_known(const std::string& what) const {
    return Status(Code::not_supported, fmt::format("{}: {}", name_, what));
  }
  Status damaged() const { return broken("the ONNX file is damaged or cut off"); }
  Status read_graph(Bytes bytes);
  Status read_node(Bytes bytes);
  Status choose_output();
  Status keep_what_is_needed();
  Status settle_types();
  Result<bool> take_as_constant(const OnnxNode& node);
  Status check_input_type() const;

  std::string name_;
  RawGraph raw_;
  OnnxGraph graph_;
};

Status Reader::read_node(Bytes bytes) {  // input 1, output 2, op_type 4, attribute 5, domain 7
  OnnxNode node;
  std::string domain;
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == 1) node.inputs.push_back(field.text());
    if (field.number == 2) node.outputs.push_back(field.text());
    if (field.number == 4) node.operation = field.text();
    if (field.number == 5) node.attributes.push_back(field.bytes);
    if (field.number == 7) domain = field.text();
  }
  if (reader.broken()) return damaged();
  // Told apart by name alone from here on; output_types() refuses what it does not know.
  if (!domain.empty() && domain != "ai.onnx") node.operation = domain + "." + node.operation;
  raw_.nodes.push_back(std::move(node));
  return {};
}

std::string name_in(Bytes bytes, std::uint32_t number) {
  std::string name;
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == number) name = field.text();
  }
  return name;
}

// GraphProto: node 1, initializer 5, input 11, output 12, sparse_initializer 15.
Status Reader::read_graph(Bytes bytes) {
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == 1) ENGRAM_TRY(read_node(field.bytes));
    if (field.number == 5) raw_.initializers[name_in(field.bytes, 8)] = field.bytes;
    if (field.number == 11) raw_.inputs.emplace_back(name_in(field.bytes, 1), field.bytes);
    if (field.number == 12) raw_.outputs.emplace_back(name_in(field.bytes, 1), field.bytes);
    if (field.number == 15) return not_known("it has sparse weights");
  }
  return reader.broken() ? damaged() : Status();
}

Status Reader::choose_output() {
  if (graph_.output.empty()) {
    if (raw_.outputs.size() != 1) {
      return broken(
          fmt::format("it has {} outputs: say which one holds the features", raw_.outputs.size()));
    }
    graph_.output = raw_.outputs[0].first;
  }
  for (const auto& [name, definition] : raw_.outputs) {
    if (name == graph_.output) graph_.output_definition = definition;
  }
  return {};
}

// Nodes that the output depends on, in the file's order, and the one input among what they read.
Status Reader::keep_what_is_needed() {
  std::map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < raw_.nodes.size(); ++i) {
    for (const std::string& output : raw_.nodes[i].outputs) {
      if (!output.empty() && !maker.emplace(output, i).second) {
        return broken(fmt::format("two operations make the tensor \"{}\"", output));
      }
    }
  }
  if (maker.count(graph_.output) == 0) {
    return broken(fmt::format("no operation makes the tensor \"{}\"", graph_.output));
  }
  std::vector<bool> needed(raw_.nodes.size());
  std::set<std::string> read;
  for (std::vector<std::string> todo{graph_.output}; !todo.empty();) {
    const std::string tensor = std::move(todo.back());
    todo.pop_back();
    if (tensor.empty() || !read.insert(tensor).second) continue;
    const auto made = maker.find(tensor);
    if (made == maker.end() || needed[made->second]) continue;
    needed[made->second] = true;
    const auto& inputs = raw_.nodes[made->second].inputs;
    todo.insert(todo.end(), inputs.begin(), inputs.end());
  }
  for (std::size_t i = 0; i < raw_.nodes.size(); ++i) {
    if (needed[i]) graph_.nodes.push_back(std::move(raw_.nodes[i]));
  }
  for (const auto& [tensor, definition] : raw_.inputs) {
    if (raw_.initializers.count(tensor) != 0 || read.count(tensor) == 0) continue;
    if (!graph_.input.empty()) return broken("the features depend on several inputs");
    graph_.input = tensor;
    graph_.input_definition = definition;
  }
  if (graph_.input.empty()) return broken("the features depend on no input");
  for (const std::string& tensor : read) {
    const auto found = raw_.initializers.find(tensor);
    if (found == raw_.initializers.end()) continue;
    ENGRAM_ASSIGN(graph_.constants[tensor], read_onnx_tensor(found->second, name_));
  }
  return {};
}

// Constants written as operations, and weights stored in half and cast up, are constants.
Result<bool> Reader::take_as_constant(const OnnxNode& node) {
  if (node.operation == "Constant" && node.outputs.size() == 1) {
    ENGRAM_ASSIGN(graph_.constants[node.outputs[0]], read_onnx_constant(node, name_));
    return true;
  }
  if (node.operation != "Cast" || node.inputs.size() != 1 || node.outputs.size() != 1) return false;
  const auto source = graph_.constants.find(node.inputs[0]);
  if (source == graph_.constants.end() || source->second.type != OnnxType::float16 ||
      onnx_attribute(node, "to").whole != std::int64_t(OnnxType::float32)) {
    return false;
  }
  OnnxConstant wider = source->second;
  wider.type = OnnxType::float32;
  wider.definition.clear();
  graph_.constants[node.outputs[0]] = std::move(wider);
  return true;
}

Status Reader::settle_types() {
  graph_.types[graph_.input] = OnnxType::float32;
  std::vector<OnnxNode> kept;
  std::set<std::string> read{graph_.output};
  for (OnnxNode& node : graph_.nodes) {
    ENGRAM_ASSIGN(const bool constant, take_as_constant(node));
    if (constant) continue;
    for (const std::string& input : node.inputs) {
      if (const auto found = graph_.constants.find(input); found != graph_.constants.end()) {
        graph_.types[input] = found->second.type;
      }
      if (!input.empty() && graph_.types.count(input) == 0) {
        return broken(fmt::format("the tensor \"{}\" is used before it is made", input));
      }
      read.insert(input);
    }
    auto types = output_types(node, graph_.types);
    if (!types.ok()) return not_known(types.status().what());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) graph_.types[node.outputs[i]] = (*types)[i];
    }
    kept.push_back(std::move(node));
  }
  graph_.nodes = std::move(kept);
  if (graph_.types.count(graph_.output) == 0 || graph_.nodes.empty()) {
    return broken("its output is a constant");
  }
  std::erase_if(graph_.constants, [&](const auto& one) { return read.count(one.first) == 0; });
  return {};
}

// ValueInfoProto type 2 > TypeProto tensor_type 1 > elem_type 1.
Status Reader::check_input_type() const {
  std::uint64_t type = 0;
  ProtobufReader info(graph_.input_definition);
  for (ProtobufField field; info.next(field);) {
    if (field.number != 2 || !field.is_bytes) continue;
    ProtobufReader kinds(field.bytes);
    for (ProtobufField kind; kinds.next(kind);) {
      if (kind.number != 1 || !kind.is_bytes) continue;
      ProtobufReader tensor(kind.bytes);
      for (ProtobufField part; tensor.next(part);) {
        if (part.number == 1 && !part.is_bytes) type = part.value;
      }
    }
  }
  return type == std::uint64_t(OnnxType::float32) ? Status()
                                                  : not_known("its input is not of 32-bit floats");
}

// ModelProto: ir_version 1, graph 7, opset_import 8, functions 25. A file may hold its graph in
// several parts, which protobuf joins.
Result<OnnxGraph> Reader::run(Bytes file) {
  ProtobufReader reader(file);
  for (ProtobufField field; reader.next(field);) {
    if (field.number == 1 && !field.is_bytes) {
      graph_.ir_version = static_cast<std::int64_t>(field.value);
    }
    if (field.number == 7 && field.is_bytes) ENGRAM_TRY(read_graph(field.bytes));
    if (field.number == 8 && field.is_bytes) graph_.opsets.push_back(field.bytes);
    if (field.number == 25) return not_known("it defines operators of its own");
  }
  if (reader.broken()) return damaged();
  ENGRAM_TRY(choose_output());
  ENGRAM_TRY(keep_what_is_needed());
  ENGRAM_TRY(check_input_type());
  ENGRAM_TRY(settle_types());
  return std::move(graph_);
}

}  // namespace

Result<OnnxGraph> read_onnx_graph(std::span<const std::byte> file, const std::string& name,
                                  const std::string& output) {
  return Reader(name, output).run(file);
}

}  // namespace engram
