// Shapes of the operations that encoders compute with, and of their input.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "platform/protobuf_reader.h"
#include "tools/convert/vit_fold.h"
#include "tools/convert/vit_graph.h"
#include "tools/convert/vit_moves_parts.h"

namespace engram {

namespace {

Result<Dims> matrix_product(const OnnxNode& node, const Dims& a, const Dims& b) {
  if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
    return odd_move(node, "has factors that do not fit");
  }
  ENGRAM_ASSIGN(Dims dims, broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2)));
  dims.push_back(a[a.size() - 2]);
  dims.push_back(b.back());
  return dims;
}

Result<Dims> general_product(const OnnxNode& node, const Dims& a, const Dims& b) {
  const bool turn_a = onnx_attribute(node, "transA").whole != 0;
  const bool turn_b = onnx_attribute(node, "transB").whole != 0;
  if (a.size() != 2 || b.size() != 2 || a[turn_a ? 0 : 1] != b[turn_b ? 1 : 0]) {
    return odd_move(node, "has factors that do not fit");
  }
  return Dims{a[turn_a ? 1 : 0], b[turn_b ? 0 : 1]};
}

// Without padding or dilation, which patches have not.
Result<Dims> convolution(const OnnxNode& node, const Dims& x, const Dims& w) {
  const OnnxAttribute strides = onnx_attribute(node, "strides");
  if (x.size() != 4 || w.size() != 4) return odd_move(node, "is not one of pictures");
  for (const std::int64_t pad : onnx_attribute(node, "pads").wholes) {
    if (pad != 0) return odd_move(node, "pads its input, which patches do not");
  }
  Dims dims{x[0], w[0], 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t step = strides.wholes.size() == 2 ? strides.wholes[i] : 1;
    if (step < 1 || w[i + 2] < 1 || w[i + 2] > x[i + 2]) return odd_move(node, "does not fit");
    dims[i + 2] = (x[i + 2] - w[i + 2]) / step + 1;
  }
  return dims;
}

Result<Dims> concat(const OnnxNode& node, const std::vector<Dims>& inputs) {
  Dims dims = inputs[0];
  const int axis = normal_axis(onnx_attribute(node, "axis").whole, dims.size());
  if (axis < 0) return odd_move(node, "has no such axis");
  const auto a = static_cast<std::size_t>(axis);
  dims[a] = 0;
  for (const Dims& input : inputs) {
    Dims alike = input;
    if (alike.size() == dims.size()) alike[a] = dims[a];
    if (alike != dims) return odd_move(node, "joins what does not go together");
    dims[a] += input[a];
  }
  return dims;
}

// Axes in an attribute, or in an input that became a constant: `simplify` passes it as a shape.
Result<Dims> reduction(const OnnxNode& node, const Dims& x, const Dims* axes_input) {
  Dims axes = onnx_attribute(node, "axes").wholes;
  if (axes.empty() && axes_input) axes = *axes_input;
  const OnnxAttribute keep = onnx_attribute(node, "keepdims");
  std::set<int> reduced;
  for (const std::int64_t axis : axes) reduced.insert(normal_axis(axis, x.size()));
  Dims dims;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool gone = axes.empty() || reduced.count(static_cast<int>(i)) != 0;
    if (!gone) dims.push_back(x[i]);
    if (gone && (!keep.given || keep.whole != 0)) dims.push_back(1);
  }
  return dims;
}

bool keeps_shape(const std::string& operation) {
  static const std::set<std::string> kSame{"BatchNormalization",
                                           "Cast",
                                           "Clip",
                                           "Gelu",
                                           "HardSwish",
                                           "LayerNormalization",
                                           "LeakyRelu",
                                           "LogSoftmax",
                                           "LpNormalization",
                                           "Softmax"};
  return kSame.count(operation) != 0;
}

}  // namespace

Result<Dims> result_dims(const OnnxNode& node, const std::vector<Dims>& inputs) {
  const std::string& kind = node.operation;
  if (inputs.empty()) return odd_move(node, "has no input");
  if (keeps_shape(kind)) return inputs[0];
  if (kind.rfind("Reduce", 0) == 0) {
    return reduction(node, inputs[0], inputs.size() > 1 ? &inputs[1] : nullptr);
  }
  if (kind == "Concat") return concat(node, inputs);
  if (kind == "Attention") return inputs[0];
  if (is_elementwise(kind)) {
    Dims dims;
    for (const Dims& input : inputs) {
      ENGRAM_ASSIGN(dims, broadcast(dims, input));
    }
    return dims;
  }
  if (inputs.size() >= 2) {
    if (kind == "MatMul") return matrix_product(node, inputs[0], inputs[1]);
    if (kind == "Gemm") return general_product(node, inputs[0], inputs[1]);
    if (kind == "Conv") return convolution(node, inputs[0], inputs[1]);
  }
  return Status(Code::not_supported, fmt::format("it has an operation {}", kind));
}

// ValueInfoProto: type 2 > tensor_type 1 > shape 2 > dim 1 > dim_value 1; 0: left open.
Dims stated_dims(std::span<const std::byte> bytes, std::size_t depth) {
  constexpr std::uint32_t kPath[] = {2, 1, 2, 1};
  Dims dims;
  ProtobufReader reader(bytes);
  for (ProtobufField field; reader.next(field);) {
    if (!field.is_bytes || field.number != kPath[depth]) continue;
    if (depth < 3) {
      dims = stated_dims(field.bytes, depth + 1);
      continue;
    }
    dims.push_back(0);
    ProtobufReader dim(field.bytes);
    for (ProtobufField value; dim.next(value);) {
      if (value.number == 1 && !value.is_bytes) dims.back() = std::int64_t(value.value);
    }
  }
  return dims;
}

ConstantTensor sizes_of(const OnnxNode& node, const Dims& dims) {
  FoldedTensor sizes{.dims = {}, .whole = true, .reals = {}, .wholes = {value_count(dims)}};
  if (node.operation == "Shape") {
    const OnnxAttribute start = onnx_attribute(node, "start"), end = onnx_attribute(node, "end");
    const std::int64_t rank = std::ssize(dims);
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
    };
    const std::int64_t last = end.given ? place(end.whole) : rank;
    const std::int64_t first = std::min(place(start.whole), last);
    sizes.wholes.assign(dims.begin() + first, dims.begin() + last);
    sizes.dims = {last - first};
  }
  return std::make_shared<const FoldedTensor>(std::move(sizes));
}

}  // namespace engram
