#include "tools/convert/vit_steps.h"

#include <algorithm>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_fold.h"
#include "tools/convert/vit_moves.h"
#include "tools/convert/vit_rows.h"

namespace engram {

namespace {

std::size_t at(int node) {
  return static_cast<std::size_t>(node);
}

class Joiner {
 public:
  explicit Joiner(const VitGraph& graph)
      : graph_(graph), steps_(graph.nodes.size()), probes_(graph.nodes.size()) {}
  std::vector<VitStep> run() {
    steps_[0].kind = VitKind::picture;
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      if (graph_.nodes[i].needed) steps_[i] = step(static_cast<int>(i));
    }
    return std::move(steps_);
  }

 private:
  VitStep step(int number);
  VitStep product(const VitNode& node) const;
  VitStep rows(int number, const VitNode& node);
  VitStep two_sources(const VitNode& node) const;
  // The tensor that a node is a function of the rows of: itself, unless it is a piece.
  int root(int node) const {
    const VitStep& step = steps_[at(node)];
    return step.kind == VitKind::affine || step.kind == VitKind::rows ? step.input : node;
  }
  const Dims& dims(int node) const { return graph_.nodes[at(node)].dims; }

  // Values that probes may take in all: far more than an encoder needs, and what a hostile file is
  // held to. After that nothing is recognised.
  std::int64_t left_ = std::int64_t{1} << 26;
  const VitGraph& graph_;
  std::vector<VitStep> steps_;
  std::vector<RowProbe> probes_;  // of pieces
};

VitStep Joiner::product(const VitNode& node) const {
  VitStep step;
  const VitOperand &a = node.inputs[0], &b = node.inputs[1];
  step.input = a.node;
  if (a.node >= 0 && b.node >= 0) {
    step.kind = node.is("MatMul") ? VitKind::product : VitKind::other;
    step.other = b.node;
    return step;
  }
  const OnnxNode& onnx = *node.onnx;
  if (a.node < 0 || !b.constant || b.constant->whole || b.constant->dims.size() != 2) return step;
  step.matrix = b.constant;
  step.by_columns = onnx_attribute(onnx, "transB").whole == 0;
  if (node.is("Gemm")) {
    const OnnxAttribute alpha = onnx_attribute(onnx, "alpha"), beta = onnx_attribute(onnx, "beta");
    const bool plain = (!alpha.given || alpha.real == 1) && (!beta.given || beta.real == 1) &&
                       onnx_attribute(onnx, "transA").whole == 0;
    if (!plain) return step;
    if (node.inputs.size() > 2) {
      const ConstantTensor& bias = node.inputs[2].constant;
      if (node.inputs[2].node >= 0) return step;
      if (bias && std::ssize(bias->reals) != node.dims.back()) return step;
      if (bias) step.bias = bias->reals;
    }
  }
  step.kind = VitKind::linear;
  return step;
}

VitStep Joiner::two_sources(const VitNode& node) const {
  VitStep step;
  step.input = node.inputs[0].node;
  if (!node.is("Add") || node.inputs.size() != 2) return step;
  const VitOperand &a = node.inputs[0], &b = node.inputs[1];
  if (a.node >= 0 && b.node >= 0) {
    step.other = b.node;
    if (dims(a.node) == node.dims && dims(b.node) == node.dims) step.kind = VitKind::sum;
    return step;
  }
  step.input = std::max(a.node, b.node);
  step.matrix = a.constant ? a.constant : b.constant;
  if (step.matrix && !step.matrix->whole && dims(step.input) == node.dims) {
    step.kind = VitKind::shifted;
  }
  return step;
}

VitStep Joiner::rows(int number, const VitNode& node) {
  int from = -1;
  std::vector<const RowProbe*> probes;
  RowProbe sent;
  for (const VitOperand& input : node.inputs) {
    probes.push_back(nullptr);
    if (input.node < 0) continue;
    const int source = root(input.node);
    if (from >= 0 && source != from) return two_sources(node);
    if (from < 0) {
      const std::int64_t width = dims(source).empty() ? 0 : dims(source).back();
      left_ -= (width + 1) * kProbeRows;
      if (width < 1 || left_ < 0) return {};
      sent = first_probe(static_cast<int>(width));
    }
    from = source;
    probes.back() = source == input.node ? &sent : &probes_[at(input.node)];
  }
  VitStep step;
  step.input = from;
  // The leading axes must stay: a constant with more of them, or a mean over them, is another thing.
  Dims alike = node.dims;
  if (!alike.empty() && alike.back() == 1) alike.back() = sent.width;
  RowProbe result;
  if (alike != dims(from) || !probe_operation(node, probes, sent.width, result)) {
    return node.inputs.size() == 2 ? two_sources(node) : step;
  }
  const RowFunction function = recognise(sent, result);
  const VitStep& before = steps_[at(from)];
  step.kind = VitKind::rows;
  step.weight = function.weight;
  step.bias = function.bias;
  const bool adds =
      function.kind == RowKind::affine && node.is("Add") &&
      std::all_of(step.weight.begin(), step.weight.end(), [](float w) { return w == 1; });
  if (function.kind == RowKind::affine && before.kind == VitKind::norm) {
    step.kind = VitKind::norm;  // its weights, written as operations of their own
    step.input = before.input;
    step.epsilon = before.epsilon;
    for (std::size_t i = 0; i < step.weight.size(); ++i) {
      step.bias[i] += step.weight[i] * before.bias[i];
      step.weight[i] *= before.weight[i];
    }
  } else if (adds && before.kind == VitKind::linear && before.bias.empty()) {
    const std::vector<float> bias = step.bias;
    step = before;
    step.bias = bias;
  } else if (function.kind == RowKind::affine) {
    step.kind = VitKind::affine;
  } else if (function.kind == RowKind::norm) {
    step.kind = VitKind::norm;
    step.epsilon = function.epsilon;
  } else if (function.kind == RowKind::gelu) {
    step.kind = VitKind::gelu;
    step.gelu = function.gelu;
  }
  if (step.kind == VitKind::rows || step.kind == VitKind::affine) {
    probes_[at(number)] = std::move(result);
  }
  return step;
}

VitStep Joiner::step(int number) {
  const VitNode& node = graph_.nodes[at(number)];
  const std::string& kind = node.onnx->operation;
  VitStep step;
  for (const VitOperand& input : node.inputs) step.input = std::max(step.input, input.node);
  if (moves_values(kind)) {
    step.kind = VitKind::move;
  } else if (kind == "MatMul" || kind == "Gemm") {
    return product(node);
  } else if (kind == "Conv") {
    const bool whole = node.inputs.size() > 2 && node.inputs[2].node >= 0;
    step.matrix = node.inputs[1].constant;
    if (step.matrix && !whole && step.input == 0) step.kind = VitKind::patches;
    if (node.inputs.size() > 2 && node.inputs[2].constant)
      step.bias = node.inputs[2].constant->reals;
  } else if (kind == "Softmax") {
    const OnnxAttribute axis = onnx_attribute(*node.onnx, "axis");
    const std::int64_t chosen = axis.given ? axis.whole : graph_.opset < 13 ? 1 : -1;
    const int last = static_cast<int>(node.dims.size()) - 1;
    if (normal_axis(chosen, node.dims.size()) == last) step.kind = VitKind::softmax;
  } else if (kind == "Concat") {
    step.kind = VitKind::join;
  } else if (kind == "Attention") {
    step.kind = VitKind::attention;
  } else if (is_elementwise(kind) || kind == "ReduceMean" || kind == "LayerNormalization" ||
             kind == "Gelu") {
    return rows(number, node);
  }
  return step;
}

}  // namespace

std::vector<VitStep> join_pieces(const VitGraph& graph) {
  return Joiner(graph).run();
}

}  // namespace engram
