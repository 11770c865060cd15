#include "tests/support/styled_vit.h"

#include "tests/support/styled_vit_writer.h"

namespace engram::test {

using Dims = std::vector<std::int64_t>;

std::string StyledVitWriter::mlp(const std::string& x, const VitBlock& block) {
  const std::string inner = linear(x, block.fc1, s_.width, s_.hidden);
  std::string bent = curve(inner);
  if (style_.gated) bent = node("Mul", {bent, linear(x, block.fc1, s_.width, s_.hidden)});
  return nothing(scaled(linear(nothing(bent), block.fc2, s_.hidden, s_.width), block.scale2));
}

std::string StyledVitWriter::tokens() {
  const int d = s_.width, c = s_.prefix;
  std::vector<std::string> convolution{"image",
                                       weights({d, 3, s_.patch, s_.patch}, m_.patch.weight)};
  if (!m_.patch.bias.empty()) convolution.push_back(weights({d}, m_.patch.bias));
  const Dims stride{s_.patch, s_.patch};
  std::string x = node("Conv", convolution, {{"kernel_shape", stride}, {"strides", stride}});
  if (style_.second_convolution) {
    x = node("Conv", {x, weights({d, d, 1, 1},
                                 BufferVector<float>(static_cast<std::size_t>(d * d), 0.1f))});
  }
  x = turned(reshape_open(x, {d, s_.patches()}), {0, 2, 1});
  using Form = VitStyle::Positions;
  const std::size_t split = static_cast<std::size_t>(c * d);
  std::vector<float> prefix(m_.prefix.begin(), m_.prefix.end());
  if (style_.positions != Form::after_join) {
    const std::vector<float> rest(m_.positions.begin() + c * d, m_.positions.end());
    x = node("Add", {x, weights({1, s_.patches(), d}, rest)});
  }
  if (style_.positions == Form::folded) {  // class token and its position in one constant
    for (std::size_t i = 0; i < split; ++i) prefix[i] += m_.positions[i];
  }
  std::string first = weights({1, c, d}, prefix);
  if (style_.batch == VitStyle::Batch::open) {
    const std::string batch =
        node("Gather", {node("Shape", {x}), whole(0)}, {{"axis", std::int64_t{0}}});
    const std::string wanted =
        node("Concat", {node("Unsqueeze", {batch, wholes({0})}), wholes({-1}), wholes({-1})},
             {{"axis", std::int64_t{0}}});
    const std::string ones = wholes({1, 1, 1});
    const std::string open = node("Equal", {wanted, node("Mul", {ones, wholes({-1})})});
    first = node("Expand", {first, node("Where", {open, ones, wanted})});
  }
  x = node("Concat", {first, x}, {{"axis", std::int64_t{1}}});
  if (style_.positions == Form::after_join) {
    x = node("Add", {x, weights({1, s_.tokens(), d}, m_.positions)});
  }
  return x;
}

std::string StyledVitWriter::run() {
  const std::int64_t batch = style_.batch == VitStyle::Batch::fixed ? 1 : OnnxWriter::kBatch;
  out_.input("image", {batch, 3, s_.image, s_.image});
  std::string x = nothing(tokens());
  if (m_.input_norm) x = norm(x, *m_.input_norm);
  const bool tokens_first = style_.batch == VitStyle::Batch::tokens_first;
  if (tokens_first) x = turned(x, {1, 0, 2});
  for (const VitBlock& block : m_.blocks) {
    if (style_.norm_after) {
      x = norm(node("Add", {x, attention(x, block)}), block.norm1);
      x = norm(node("Add", {x, mlp(x, block)}), block.norm2);
      continue;
    }
    x = node("Add", {x, attention(norm(x, block.norm1), block)});
    x = node("Add", {mlp(norm(x, block.norm2), block), x});
  }
  if (tokens_first) x = turned(x, {1, 0, 2});
  const bool early = style_.token == VitStyle::Token::before_norm;
  if (!early && !style_.mean) x = norm(x, m_.norm);
  if (style_.mean) {
    x = node("ReduceMean", {norm(x, m_.norm)}, {{"axes", Dims{1}}, {"keepdims", std::int64_t{0}}});
  } else if (style_.token == VitStyle::Token::slice) {
    x = node("Squeeze", {node("Slice", {x, wholes({0}), wholes({1}), wholes({1})}), wholes({1})});
  } else {
    x = node("Gather", {x, whole(0)}, {{"axis", std::int64_t{1}}});
  }
  if (early) x = norm(x, m_.norm);
  if (m_.projection) {
    std::vector<float> columns(m_.projection->weight.size());
    for (int o = 0; o < s_.features; ++o) {
      for (int i = 0; i < s_.width; ++i)
        columns[static_cast<std::size_t>(i * s_.features + o)] =
            m_.projection->weight[static_cast<std::size_t>(o * s_.width + i)];
    }
    x = node("MatMul", {x, weights({s_.width, s_.features}, columns)});
  }
  out_.node("Identity", {x}, {"features"});
  out_.output("features", {batch, s_.features});
  return out_.finish();
}

std::string styled_vit(const VitModel& model, const VitStyle& style) {
  return StyledVitWriter(model, style).run();
}

}  // namespace engram::test
