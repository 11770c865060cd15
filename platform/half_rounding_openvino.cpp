#include "platform/half_rounding_openvino.h"

#include <cstddef>
#include <set>
#include <string_view>

#include <openvino/op/constant.hpp>
#include <openvino/op/op.hpp>

#include "platform/half.h"

namespace engram {

namespace {

// By the time it runs, the CPU plug-in has made floats of all halves.
class RoundToHalf final : public ov::op::Op {
 public:
  OPENVINO_OP("RoundToHalf", "engram");
  RoundToHalf() = default;
  explicit RoundToHalf(const ov::Output<ov::Node>& value) : Op({value}) {
    constructor_validate_and_infer_types();
  }
  void validate_and_infer_types() override {
    set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
  }
  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
    return std::make_shared<RoundToHalf>(inputs.at(0));
  }
  bool has_evaluate() const override { return true; }
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
    if (inputs[0].get_element_type() != ov::element::f32) return false;
    outputs[0].set_shape(inputs[0].get_shape());
    const float* from = inputs[0].data<const float>();
    float* to = outputs[0].data<float>();
    for (std::size_t i = 0; i < inputs[0].get_size(); ++i) to[i] = rounded_to_half(from[i]);
    return true;
  }
};

// Results that are values of the inputs, moved: they are halves already.
bool only_moves(const ov::Node& node) {
  static const std::set<std::string_view> names{"Broadcast", "Clamp",     "Concat",       "Gather",
                                                "MaxPool",   "Relu",      "Reshape",      "Slice",
                                                "Split",     "Squeeze",   "StridedSlice", "Tile",
                                                "Transpose", "Unsqueeze", "VariadicSplit"};
  return names.count(node.get_type_name()) != 0;
}

// The sums of a Conv or Gemm before its bias, which OpenVINO makes two operations of: in the file they
// are one, and round once.
bool lacks_its_bias(const ov::Node& node) {
  static const std::set<std::string_view> names{"Convolution", "GroupConvolution", "MatMul"};
  if (names.count(node.get_type_name()) == 0) return false;
  const auto readers = node.output(0).get_target_inputs();
  if (readers.size() != 1) return false;
  const ov::Node* const reader = readers.begin()->get_node();
  if (std::string_view(reader->get_type_name()) != "Add") return false;
  const ov::Node* other = reader->get_input_node_ptr(1 - readers.begin()->get_index());
  while (other->get_input_size() > 0 && std::string_view(other->get_type_name()) == "Reshape") {
    other = other->get_input_node_ptr(0);
  }
  return ov::is_type<ov::op::v0::Constant>(other);
}

}  // namespace

int round_halves(ov::Model& model) {
  int rounded = 0;
  for (const auto& node : model.get_ordered_ops()) {
    if (ov::is_type<ov::op::v0::Constant>(node) || ov::is_type<ov::op::v0::Result>(node) ||
        ov::is_type<ov::op::v0::Parameter>(node) || only_moves(*node) || lacks_its_bias(*node)) {
      continue;
    }
    for (auto output : node->outputs()) {
      if (output.get_element_type() != ov::element::f16) continue;
      const auto readers = output.get_target_inputs();
      const auto rounding = std::make_shared<RoundToHalf>(output);
      for (auto reader : readers) reader.replace_source_output(rounding->output(0));
      ++rounded;
    }
  }
  model.validate_nodes_and_infer_types();
  return rounded;
}

}  // namespace engram
