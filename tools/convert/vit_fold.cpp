#include "tools/convert/vit_fold.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "platform/onnx_constant.h"
#include "tools/convert/vit_moves_parts.h"

namespace engram {

namespace {

using Constants = std::vector<ConstantTensor>;

const FoldedTensor* given(const Constants& inputs, std::size_t index) {
  return index < inputs.size() ? inputs[index].get() : nullptr;
}

std::int64_t rounded(double value) {  // towards zero, and within what 64 bits hold
  constexpr double kMost = 9e18;
  return static_cast<std::int64_t>(std::isnan(value) ? 0 : std::clamp(value, -kMost, kMost));
}

void copy_value(const FoldedTensor& from, std::size_t at, FoldedTensor& to) {
  if (from.whole) to.wholes.push_back(from.wholes[at]);
  if (!from.whole) to.reals.push_back(from.reals[at]);
}

Result<FoldedTensor> cast(const OnnxNode& node, const FoldedTensor& input) {
  FoldedTensor result;
  result.dims = input.dims;
  const auto to = static_cast<OnnxType>(onnx_attribute(node, "to").whole);
  result.whole = to == OnnxType::int64 || to == OnnxType::int32 || to == OnnxType::boolean;
  if (!result.whole && to != OnnxType::float32 && to != OnnxType::float16 &&
      to != OnnxType::float64 && to != OnnxType::bfloat16) {
    return odd_move(node, "gives a type that is not known here");
  }
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (to == OnnxType::boolean) {
      result.wholes.push_back(input.at(i) != 0);
    } else if (result.whole) {
      result.wholes.push_back(input.whole ? input.wholes[i] : rounded(input.at(i)));
    } else {
      result.reals.push_back(static_cast<float>(input.at(i)));
    }
  }
  return result;
}

Result<FoldedTensor> concat(const OnnxNode& node, const Constants& inputs) {
  FoldedTensor result = *inputs[0];
  const int axis = normal_axis(onnx_attribute(node, "axis").whole, result.dims.size());
  if (axis < 0) return odd_move(node, "has no such axis");
  const auto a = static_cast<std::size_t>(axis);
  std::int64_t outer = 1, together = 0;
  for (std::size_t i = 0; i < a; ++i) outer *= result.dims[i];
  for (const ConstantTensor& input : inputs) {
    Dims alike = input->dims;
    if (alike.size() == result.dims.size()) alike[a] = result.dims[a];
    if (alike != result.dims || input->whole != result.whole) {
      return odd_move(node, "joins tensors that do not go together");
    }
    together += input->dims[a];
  }
  result.dims[a] = together;
  result.reals.clear();
  result.wholes.clear();
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const ConstantTensor& input : inputs) {
      const std::size_t part = input->size() / static_cast<std::size_t>(outer);
      for (std::size_t i = 0; i < part; ++i) {
        copy_value(*input, static_cast<std::size_t>(row) * part + i, result);
      }
    }
  }
  return result;
}

Result<FoldedTensor> constant_of_shape(const OnnxNode& node, const FoldedTensor& shape,
                                       WorkBudget& budget) {
  if (!shape.whole) return odd_move(node, "has no shape");
  FoldedTensor value{.dims = {1}, .whole = false, .reals = {0}, .wholes = {}};
  if (const OnnxAttribute chosen = onnx_attribute(node, "value"); chosen.given) {
    ENGRAM_ASSIGN(const OnnxConstant read, read_onnx_tensor(chosen.tensor, "value"));
    ENGRAM_ASSIGN(value, fold_constant(read));
    if (value.size() != 1) return odd_move(node, "repeats more than one number");
  }
  const std::int64_t count = value_count(shape.wholes);
  ENGRAM_TRY(budget.take(count));
  FoldedTensor result{.dims = shape.wholes, .whole = value.whole, .reals = {}, .wholes = {}};
  for (std::int64_t i = 0; i < count; ++i) copy_value(value, 0, result);
  return result;
}

Result<FoldedTensor> range(const OnnxNode& node, const Constants& inputs, WorkBudget& budget) {
  if (inputs.size() != 3 || inputs[0]->size() != 1 || inputs[1]->size() != 1 ||
      inputs[2]->size() != 1 || inputs[2]->at(0) == 0) {
    return odd_move(node, "has no bounds");
  }
  const double start = inputs[0]->at(0), step = inputs[2]->at(0);
  const double count = std::max(std::ceil((inputs[1]->at(0) - start) / step), 0.0);
  ENGRAM_TRY(budget.take(count < double(kMostValues) ? rounded(count) : -1));
  FoldedTensor result{
      .dims = {rounded(count)}, .whole = inputs[0]->whole, .reals = {}, .wholes = {}};
  for (std::int64_t i = 0; i < result.dims[0]; ++i) {
    const double value = start + static_cast<double>(i) * step;
    if (result.whole) result.wholes.push_back(rounded(value));
    if (!result.whole) result.reals.push_back(static_cast<float>(value));
  }
  return result;
}

// All values to one: products and sums of sizes.
Result<FoldedTensor> reduce(const OnnxNode& node, const Constants& inputs) {
  const OnnxAttribute axes = onnx_attribute(node, "axes"), keep = onnx_attribute(node, "keepdims");
  const bool some = axes.given || given(inputs, 1) != nullptr;
  if (inputs[0]->dims.size() > 1 && some) return odd_move(node, "of constants is not known here");
  double value = node.operation == "ReduceProd" ? 1 : 0;
  for (std::size_t i = 0; i < inputs[0]->size(); ++i) {
    const double one = inputs[0]->at(i);
    if (node.operation == "ReduceProd") value *= one;
    if (node.operation == "ReduceSum") value += one;
    if (node.operation == "ReduceMax") value = i == 0 ? one : std::max(value, one);
    if (node.operation == "ReduceMin") value = i == 0 ? one : std::min(value, one);
  }
  FoldedTensor result;
  if (!keep.given || keep.whole != 0) result.dims.assign(inputs[0]->dims.size(), 1);
  result.whole = inputs[0]->whole;
  if (result.whole) result.wholes = {rounded(value)};
  if (!result.whole) result.reals = {static_cast<float>(value)};
  return result;
}

Result<FoldedTensor> move(const OnnxNode& node, const Constants& inputs, int output,
                          WorkBudget& budget) {
  MoveConstants constants;
  for (const ConstantTensor& input : inputs) constants.push_back(input.get());
  ENGRAM_TRY(budget.take(movement_cost(inputs[0]->dims)));
  ENGRAM_ASSIGN(const Movement moved, movement(node, constants, inputs[0]->dims, output));
  FoldedTensor result = moved.flat ? *inputs[0] : FoldedTensor{};
  result.dims = moved.dims;
  ENGRAM_TRY(budget.take(value_count(moved.dims)));
  if (moved.flat) return result;
  result.whole = inputs[0]->whole;
  for (const std::int32_t source : moved.sources()) {
    copy_value(*inputs[0], static_cast<std::size_t>(source), result);
  }
  return result;
}

Result<FoldedTensor> fold_one(const OnnxNode& node, const Constants& inputs, WorkBudget& budget) {
  const std::string& kind = node.operation;
  for (const ConstantTensor& input : inputs) {
    ENGRAM_TRY(budget.take(input ? static_cast<std::int64_t>(input->size()) : 0));
  }
  if (kind == "Resize" && given(inputs, 0)) return fold_resize(node, inputs, budget);
  if (kind == "ConstantOfShape" && given(inputs, 0)) {
    return constant_of_shape(node, *inputs[0], budget);
  }
  const bool all = std::all_of(inputs.begin(), inputs.end(), [](const auto& x) { return !!x; });
  if (inputs.empty() || !all) return odd_move(node, "of constants is not known here");
  if (is_elementwise(kind)) return fold_elementwise(node, inputs, budget);
  if (kind == "Cast") return cast(node, *inputs[0]);
  if (kind == "Concat") return concat(node, inputs);
  if (kind == "Range") return range(node, inputs, budget);
  if (kind == "ReduceProd" || kind == "ReduceSum" || kind == "ReduceMax" || kind == "ReduceMin") {
    return reduce(node, inputs);
  }
  return odd_move(node, "of constants is not known here");
}

}  // namespace

Result<std::vector<FoldedTensor>> fold_node(const OnnxNode& node, const Constants& inputs,
                                            WorkBudget& budget) {
  std::vector<FoldedTensor> outputs;
  const bool moves = moves_values(node.operation) && given(inputs, 0);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i > 0 && node.operation != "Split") break;  // a mask of Dropout and the like
    auto one =
        moves ? move(node, inputs, static_cast<int>(i), budget) : fold_one(node, inputs, budget);
    if (!one.ok()) return one.status();
    outputs.push_back(std::move(one).value());
  }
  return outputs;
}

}  // namespace engram
