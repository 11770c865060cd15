#include "tools/convert/vit_write.h"

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "tools/convert/onnx_writer.h"

namespace engram {

namespace {

using Dims = std::vector<std::int64_t>;
using Attributes = std::vector<OnnxWriter::Attribute>;

class Writer {
 public:
  Writer(const VitModel& model, const AdaptParameters* adapted)
      : model_(model), shape_(model.shape), out_("vit") {
    if (adapted) {
      views_ = views_of<const float>(adapted->slices, shape_.blocks, adapted->values.data());
      branch_scale_ = static_cast<float>(adapted->branch_scale);
    }
  }
  std::string run();

 private:
  std::string node(const char* operation, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}) {
    const std::string result = "t" + std::to_string(next_++);
    out_.node(operation, inputs, {result}, attributes);
    return result;
  }
  std::string weights(const Dims& dims, std::span<const float> values) {
    const std::string name = "w" + std::to_string(next_++);
    out_.weights(name, dims, values);
    return name;
  }
  std::string number(float value) { return weights({}, {&value, 1}); }
  std::string wholes(const Dims& values) {
    const std::string name = "i" + std::to_string(next_++);
    out_.whole_numbers(name, {std::ssize(values)}, values);
    return name;
  }
  std::string index(std::int64_t value) {
    const std::string name = "i" + std::to_string(next_++);
    out_.whole_numbers(name, {}, {&value, 1});
    return name;
  }

  // (O, I) row-major, or its views in parameters; the file has it as (I, O).
  std::string linear(const std::string& x, std::span<const float> weight,
                     std::span<const float> bias, int outputs, float scale = 1);
  std::string linear(const std::string& x, const VitLinear& layer, int outputs) {
    return linear(x, layer.weight, layer.bias, outputs);
  }
  std::string norm(const std::string& x, const VitNorm& layer);
  std::string gelu(const std::string& x);
  std::string scaled(const std::string& x, const BufferVector<float>& scale) {
    return scale.empty() ? x : node("Mul", {x, weights({shape_.width}, scale)});
  }
  // Rows (1, n, D) once for each picture.
  std::string for_each_picture(std::span<const float> rows) {
    const std::int64_t count = std::ssize(rows) / shape_.width;
    return node("Expand", {weights({1, count, shape_.width}, rows), batch_});
  }
  std::string tokens();
  std::string attention(const std::string& x, const VitBlock& block);
  std::string block(std::string x, std::size_t number);

  const VitModel& model_;
  const VitShape shape_;
  AdaptViews<const float> views_;
  float branch_scale_ = 0;
  OnnxWriter out_;
  std::string batch_;  // the shape [N, 1, 1]
  int next_ = 0;
};

std::span<const float> values_of(MatrixView<const float> view) {
  return {view.data, static_cast<std::size_t>(view.rows) * static_cast<std::size_t>(view.cols)};
}

std::string Writer::linear(const std::string& x, std::span<const float> weight,
                           std::span<const float> bias, int outputs, float scale) {
  const std::size_t rows = static_cast<std::size_t>(outputs), columns = weight.size() / rows;
  std::vector<float> turned(weight.size()), shift(bias.begin(), bias.end());
  for (std::size_t o = 0; o < rows; ++o) {
    for (std::size_t i = 0; i < columns; ++i)
      turned[i * rows + o] = scale * weight[o * columns + i];
  }
  for (float& value : shift) value *= scale;
  const std::string product =
      node("MatMul", {x, weights({std::ssize(turned) / outputs, outputs}, turned)});
  return bias.empty() ? product : node("Add", {product, weights({outputs}, shift)});
}

std::string Writer::norm(const std::string& x, const VitNorm& layer) {
  const Attributes last{{"axes", Dims{-1}}};
  const std::string centred = node("Sub", {x, node("ReduceMean", {x}, last)});
  const std::string variance = node("ReduceMean", {node("Pow", {centred, number(2)})}, last);
  const std::string deviation = node("Sqrt", {node("Add", {variance, number(shape_.epsilon)})});
  const std::string normal = node("Div", {centred, deviation});
  return node("Add", {node("Mul", {normal, weights({shape_.width}, layer.weight)}),
                      weights({shape_.width}, layer.bias)});
}

std::string Writer::gelu(const std::string& x) {
  if (shape_.gelu == GeluKind::relu) return node("Relu", {x});
  if (shape_.gelu == GeluKind::quick) {
    return node("Mul", {x, node("Sigmoid", {node("Mul", {x, number(1.702f)})})});
  }
  std::string bent;
  if (shape_.gelu == GeluKind::erf) {
    bent = node("Erf", {node("Div", {x, number(std::numbers::sqrt2_v<float>)})});
  } else {
    const std::string cube = node("Mul", {node("Pow", {x, number(3)}), number(0.044715f)});
    const float root = std::sqrt(2 * std::numbers::inv_pi_v<float>);
    bent = node("Tanh", {node("Mul", {node("Add", {x, cube}), number(root)})});
  }
  return node("Mul", {node("Mul", {x, node("Add", {bent, number(1)})}), number(0.5f)});
}

std::string Writer::tokens() {
  const std::int64_t width = shape_.width, patch = shape_.patch;
  std::vector<std::string> inputs{kVitInput,
                                  weights({width, 3, patch, patch}, model_.patch.weight)};
  if (!model_.patch.bias.empty()) inputs.push_back(weights({width}, model_.patch.bias));
  const Dims side{patch, patch};
  const std::string grid = node("Conv", inputs, {{"kernel_shape", side}, {"strides", side}});
  const std::string rows = node("Reshape", {grid, wholes({0, width, shape_.patches()})});
  const std::string patches = node("Transpose", {rows}, {{"perm", Dims{0, 2, 1}}});
  const std::string pictures =
      node("Slice", {node("Shape", {patches}), wholes({0}), wholes({1}), wholes({0})});
  batch_ = node("Concat", {pictures, wholes({1, 1})}, {{"axis", std::int64_t{0}}});
  const std::string all =
      node("Concat", {for_each_picture(model_.prefix), patches}, {{"axis", std::int64_t{1}}});
  return node("Add", {all, weights({1, shape_.tokens(), width}, model_.positions)});
}

std::string Writer::attention(const std::string& x, const VitBlock& block) {
  const std::int64_t heads = shape_.heads, head = shape_.head(), width = shape_.width;
  const std::string qkv =
      node("Reshape", {linear(x, block.qkv, 3 * shape_.width), wholes({0, 0, 3, heads, head})});
  const std::string by_part = node("Transpose", {qkv}, {{"perm", Dims{2, 0, 3, 1, 4}}});
  const auto part = [&](std::int64_t number) {
    return node("Gather", {by_part, index(number)}, {{"axis", std::int64_t{0}}});
  };
  const float scale = 1 / std::sqrt(static_cast<float>(head));
  const std::string q = node("Mul", {part(0), number(scale)});
  const std::string k = node("Transpose", {part(1)}, {{"perm", Dims{0, 1, 3, 2}}});
  const std::string shares =
      node("Softmax", {node("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
  const std::string mixed =
      node("Transpose", {node("MatMul", {shares, part(2)})}, {{"perm", Dims{0, 2, 1, 3}}});
  const std::string rows = node("Reshape", {mixed, wholes({0, 0, width})});
  return scaled(linear(rows, block.proj, shape_.width), block.scale1);
}

std::string Writer::block(std::string x, std::size_t number) {
  const VitBlock& block = model_.blocks[number];
  const AdaptBlockViews<const float> adapt =
      views_.blocks.empty() ? AdaptBlockViews<const float>{} : views_.blocks[number];
  const bool prompted = adapt.prompts.rows > 0;
  if (prompted) {
    x = node("Concat", {x, for_each_picture(values_of(adapt.prompts))},
             {{"axis", std::int64_t{1}}});
  }
  x = node("Add", {x, attention(norm(x, block.norm1), block)});
  const std::string hidden = gelu(linear(norm(x, block.norm2), block.fc1, shape_.hidden));
  std::string sum = node("Add", {x, scaled(linear(hidden, block.fc2, shape_.width), block.scale2)});
  if (adapt.down_weight.rows > 0) {
    const std::string narrow =
        node("Relu", {linear(x, values_of(adapt.down_weight), values_of(adapt.down_bias),
                             adapt.down_weight.rows)});
    sum = node("Add", {sum, linear(narrow, values_of(adapt.up_weight), values_of(adapt.up_bias),
                                   shape_.width, branch_scale_)});
  }
  if (!prompted) return sum;
  return node("Slice", {sum, wholes({0}), wholes({shape_.tokens()}), wholes({1})});
}

std::string Writer::run() {
  out_.input(kVitInput, {OnnxWriter::kBatch, 3, shape_.image, shape_.image});
  std::string x = tokens();
  if (model_.input_norm) x = norm(x, *model_.input_norm);
  for (std::size_t i = 0; i < model_.blocks.size(); ++i) x = block(std::move(x), i);
  // The other tokens are not needed any more.
  x = norm(node("Gather", {x, index(0)}, {{"axis", std::int64_t{1}}}), model_.norm);
  if (model_.projection) x = linear(x, *model_.projection, shape_.features);
  out_.node("Identity", {x}, {kVitFeatures});
  out_.output(kVitFeatures, {OnnxWriter::kBatch, shape_.features});
  return out_.finish();
}

}  // namespace

std::string vit_onnx(const VitModel& model, const AdaptParameters* adapted) {
  if (adapted && adapted->method == AdaptMethod::ssf) {
    return Writer(fold_ssf(model, *adapted), nullptr).run();
  }
  return Writer(model, adapted).run();
}

}  // namespace engram
