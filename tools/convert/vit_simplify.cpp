#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "tools/convert/pickle.h"
#include "tools/convert/vit_fold.h"
#include "tools/convert/vit_graph.h"
#include "tools/convert/vit_moves.h"

namespace engram {

namespace {

class Simplifier {
 public:
  Simplifier(OnnxGraph onnx, int image) : image_(image) { graph_.onnx = std::move(onnx); }
  Result<VitGraph> run();

 private:
  Status take_picture();
  Status take_node(const OnnxNode& node);
  Status fold(const OnnxNode& node, const std::vector<VitOperand>& inputs);
  Status compute(const OnnxNode& node, std::vector<VitOperand> inputs);
  Status add(const OnnxNode& node, int output, std::vector<VitOperand> inputs, Dims dims);
  const Dims& dims_of(const VitOperand& operand) const {
    return operand.constant ? operand.constant->dims
                            : graph_.nodes[static_cast<std::size_t>(operand.node)].dims;
  }
  // What an operation without effect gives is what it takes.
  bool changes_nothing(const OnnxNode& node, const std::vector<VitOperand>& inputs) const;

  int image_;
  VitGraph graph_;
  WorkBudget budget_;
  std::map<std::string, VitOperand> values_;
};

Status Simplifier::take_picture() {
  const Dims stated = stated_dims(graph_.onnx.input_definition);
  const Dims wanted{1, 3, image_, image_};
  if (stated.size() == 4) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (stated[i] > 0 && stated[i] != wanted[i]) {
        return Status(Code::not_supported, fmt::format("its input is {}, not {}",
                                                       shape_text(stated), shape_text(wanted)));
      }
    }
  }
  graph_.nodes.push_back(
      {.onnx = nullptr, .output = 0, .inputs = {}, .dims = wanted, .needed = false});
  values_[graph_.onnx.input] = {.node = 0, .constant = nullptr};
  for (auto& [name, constant] : graph_.onnx.constants) {
    ENGRAM_ASSIGN(FoldedTensor tensor, fold_constant(std::move(constant)));
    values_[name] = {.node = -1,
                     .constant = std::make_shared<const FoldedTensor>(std::move(tensor))};
  }
  graph_.onnx.constants.clear();
  return {};
}

Status Simplifier::add(const OnnxNode& node, int output, std::vector<VitOperand> inputs,
                       Dims dims) {
  if (value_count(dims) < 0) {
    return Status(
        Code::not_supported,
        fmt::format("an operation {} makes a tensor of an impossible size", node.operation));
  }
  values_[node.outputs[static_cast<std::size_t>(output)]] = {
      .node = static_cast<int>(graph_.nodes.size()), .constant = nullptr};
  graph_.nodes.push_back({.onnx = &node,
                          .output = output,
                          .inputs = std::move(inputs),
                          .dims = std::move(dims),
                          .needed = false});
  return {};
}

Status Simplifier::fold(const OnnxNode& node, const std::vector<VitOperand>& inputs) {
  std::vector<ConstantTensor> constants;
  for (const VitOperand& input : inputs) constants.push_back(input.constant);
  ENGRAM_ASSIGN(auto outputs, fold_node(node, constants, budget_));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    values_[node.outputs[i]] = {
        .node = -1, .constant = std::make_shared<const FoldedTensor>(std::move(outputs[i]))};
  }
  return {};
}

bool Simplifier::changes_nothing(const OnnxNode& node,
                                 const std::vector<VitOperand>& inputs) const {
  if (node.operation == "Identity" || node.operation == "Dropout") return true;
  if (node.operation == "Add" && inputs.size() == 2 && inputs[0].node >= 0) {  // an empty mask
    const FoldedTensor* added = inputs[1].constant.get();
    const auto zero = [](float value) { return value == 0; };
    if (!added || added->whole) return false;
    const auto dims = broadcast(dims_of(inputs[0]), added->dims);
    return std::all_of(added->reals.begin(), added->reals.end(), zero) && dims.ok() &&
           dims.value() == dims_of(inputs[0]);
  }
  const auto to = static_cast<OnnxType>(onnx_attribute(node, "to").whole);
  return node.operation == "Cast" && inputs.size() == 1 &&
         (to == OnnxType::float32 || to == OnnxType::float16 || to == OnnxType::float64 ||
          to == OnnxType::bfloat16);
}

Status Simplifier::compute(const OnnxNode& node, std::vector<VitOperand> inputs) {
  if (changes_nothing(node, inputs)) {
    values_[node.outputs[0]] = inputs[0];
    return {};
  }
  // "Where it is not a number, 0": a guard of softmax against rows that are masked whole.
  if (node.operation == "Where" && inputs.size() == 3 && inputs[0].node >= 0) {
    const VitNode& condition = graph_.nodes[static_cast<std::size_t>(inputs[0].node)];
    if (condition.is("IsNaN") && condition.inputs[0].node == inputs[2].node) {
      values_[node.outputs[0]] = inputs[2];
      return {};
    }
  }
  if (moves_values(node.operation) && inputs[0].node >= 0) {
    MoveConstants constants;
    for (const VitOperand& input : inputs) constants.push_back(input.constant.get());
    const Dims from = dims_of(inputs[0]);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      ENGRAM_TRY(budget_.take(movement_cost(from)));
      ENGRAM_ASSIGN(Movement moved, movement(node, constants, from, static_cast<int>(i)));
      ENGRAM_TRY(budget_.take(movement_cost(moved.dims)));
      if (moved.flat && moved.dims == from) {
        values_[node.outputs[i]] = inputs[0];
      } else {
        ENGRAM_TRY(add(node, static_cast<int>(i), inputs, std::move(moved.dims)));
      }
    }
    return {};
  }
  const bool reduces = node.operation.rfind("Reduce", 0) == 0;
  std::vector<Dims> shapes;
  for (const VitOperand& input : inputs) {
    if (input.node < 0 && !input.constant) continue;
    const bool axes = reduces && !shapes.empty() && input.constant;
    shapes.push_back(axes ? input.constant->wholes : dims_of(input));
  }
  ENGRAM_ASSIGN(Dims dims, result_dims(node, shapes));
  return add(node, 0, std::move(inputs), std::move(dims));
}

Status Simplifier::take_node(const OnnxNode& node) {
  if (node.outputs.empty() || node.outputs[0].empty()) return {};
  bool all_known = true;
  std::vector<VitOperand> inputs;
  for (const std::string& name : node.inputs) {
    const auto found = values_.find(name);
    if (!name.empty() && found == values_.end()) {
      return Status(Code::not_supported,
                    fmt::format("an operation {} takes \"{}\", which is not known here",
                                node.operation, safe_excerpt(name)));
    }
    inputs.push_back(name.empty() ? VitOperand{} : found->second);
    all_known = all_known && inputs.back().node < 0;
  }
  if (node.operation == "Shape" || node.operation == "Size") {
    if (inputs.empty() || node.inputs[0].empty())
      return Status(Code::bad_data, "a shape of nothing");
    values_[node.outputs[0]] = {.node = -1, .constant = sizes_of(node, dims_of(inputs[0]))};
    return {};
  }
  return all_known ? fold(node, inputs) : compute(node, std::move(inputs));
}

Result<VitGraph> Simplifier::run() {
  graph_.opset = standard_opset(graph_.onnx);
  ENGRAM_TRY(take_picture());
  for (const OnnxNode& node : graph_.onnx.nodes) ENGRAM_TRY(take_node(node));
  const auto output = values_.find(graph_.onnx.output);
  if (output == values_.end() || output->second.node < 0) {
    return Status(Code::not_supported, "its features do not depend on the picture");
  }
  graph_.output = output->second.node;
  graph_.nodes[static_cast<std::size_t>(graph_.output)].needed = true;
  for (std::size_t i = graph_.nodes.size(); i-- > 0;) {  // each stands after its inputs
    if (!graph_.nodes[i].needed) continue;
    for (const VitOperand& input : graph_.nodes[i].inputs) {
      if (input.node >= 0) graph_.nodes[static_cast<std::size_t>(input.node)].needed = true;
    }
  }
  return std::move(graph_);
}

}  // namespace

Result<VitGraph> simplify(OnnxGraph onnx, int image) {
  return Simplifier(std::move(onnx), image).run();
}

}  // namespace engram
