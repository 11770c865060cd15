// Linear layers, norms, curves and attention of styled Vision Transformers.
#include <cmath>
#include <numeric>

#include "tests/support/styled_vit_writer.h"

namespace engram::test {

using Dims = std::vector<std::int64_t>;

std::string StyledVitWriter::reshape_open(const std::string& x, std::vector<std::int64_t> rest) {
  if (style_.batch != VitStyle::Batch::open) {
    rest.insert(rest.begin(), style_.batch == VitStyle::Batch::fixed ? 1 : -1);
    return reshape(x, rest);
  }
  const std::string batch =
      node("Gather", {node("Shape", {x}), whole(0)}, {{"axis", std::int64_t{0}}});
  std::vector<std::string> parts{node("Unsqueeze", {batch, wholes({0})})};
  for (const std::int64_t size : rest) parts.push_back(wholes({size}));
  return node("Reshape", {x, node("Concat", parts, {{"axis", std::int64_t{0}}})});
}

std::string StyledVitWriter::linear(const std::string& x, const VitLinear& layer, int in, int out) {
  using Form = VitStyle::Linear;
  if (style_.linear == Form::gemm) {
    std::vector<std::string> inputs{reshape(x, {-1, in}), weights({out, in}, layer.weight)};
    if (!layer.bias.empty()) inputs.push_back(weights({out}, layer.bias));
    const std::string rows = node("Gemm", inputs, {{"transB", std::int64_t{1}}, {"alpha", 1.0f}});
    return style_.batch == VitStyle::Batch::tokens_first ? reshape(rows, {s_.tokens(), -1, out})
                                                         : reshape(rows, {-1, s_.tokens(), out});
  }
  std::vector<float> columns(layer.weight.size());
  for (int o = 0; o < out; ++o) {
    for (int i = 0; i < in; ++i) {
      columns[static_cast<std::size_t>(i * out + o)] =
          layer.weight[static_cast<std::size_t>(o * in + i)];
    }
  }
  const std::string product = node("MatMul", {x, weights({in, out}, columns)});
  if (layer.bias.empty()) return product;
  const std::string bias = weights({out}, layer.bias);
  return style_.linear == Form::matmul ? node("Add", {product, bias})
                                       : node("Add", {bias, product});
}

std::string StyledVitWriter::norm(const std::string& x, const VitNorm& layer) {
  const std::string weight = weights({s_.width}, layer.weight);
  const std::string bias = weights({s_.width}, layer.bias);
  if (style_.norm == VitStyle::Norm::operation) {
    return node("LayerNormalization", {x, weight, bias},
                {{"axis", std::int64_t{-1}}, {"epsilon", s_.epsilon}});
  }
  const Dims last{-1};
  const std::string mean = node("ReduceMean", {x}, {{"axes", last}});
  const std::string centred = node("Sub", {x, mean});
  const std::string square = style_.norm == VitStyle::Norm::pieces
                                 ? node("Pow", {centred, number(2)})
                                 : node("Mul", {centred, centred});
  const std::string variance =
      node("Add", {node("ReduceMean", {square}, {{"axes", last}}), number(s_.epsilon)});
  if (style_.norm == VitStyle::Norm::pieces) {
    const std::string normal = node("Div", {centred, node("Sqrt", {variance})});
    return node("Add", {node("Mul", {normal, weight}), bias});
  }
  // x * (w / deviation) + (b - mean * (w / deviation)), as batch norm is written
  const std::string scale = node("Mul", {node("Reciprocal", {node("Sqrt", {variance})}), weight});
  return node("Add", {node("Mul", {x, scale}), node("Sub", {bias, node("Mul", {mean, scale})})});
}

std::string StyledVitWriter::curve(const std::string& x) {
  if (s_.gelu == GeluKind::relu) return node("Relu", {x});
  if (s_.gelu == GeluKind::quick) {
    return node("Mul", {x, node("Sigmoid", {node("Mul", {x, number(1.702f)})})});
  }
  const bool erf = s_.gelu == GeluKind::erf;
  if (style_.curve == VitStyle::Curve::operation) {
    return node("Gelu", {x}, {{"approximate", std::string(erf ? "none" : "tanh")}});
  }
  const std::string cube =
      node("Add", {x, node("Mul", {node("Pow", {x, number(3)}), number(0.044715f)})});
  const std::string inner = erf ? node("Erf", {node("Div", {x, number(std::sqrt(2.0f))})})
                                : node("Tanh", {node("Mul", {cube, number(0.7978845608f)})});
  const std::string gate = node("Add", {inner, number(1)});
  if (style_.curve == VitStyle::Curve::half_last) {
    return node("Mul", {node("Mul", {x, gate}), number(0.5f)});
  }
  return node("Mul", {node("Mul", {number(0.5f), x}), gate});
}

std::string StyledVitWriter::heads(const std::string& x) {
  if (style_.batch == VitStyle::Batch::tokens_first) {  // (T,N,D) -> (N*H,T,d)
    return turned(reshape(x, {s_.tokens(), -1, s_.head()}), {1, 0, 2});
  }
  return turned(reshape_open(x, {s_.tokens(), s_.heads, s_.head()}), {0, 2, 1, 3});
}

std::string StyledVitWriter::attention(const std::string& x, const VitBlock& block) {
  using Form = VitStyle::Qkv;
  const int d = s_.width;
  VitLinear part[3];
  for (int p = 0; p < 3; ++p) {
    const auto first = block.qkv.weight.begin() + p * d * d;
    part[p].weight.assign(first, first + d * d);
    if (!block.qkv.bias.empty())
      part[p].bias.assign(block.qkv.bias.begin() + p * d, block.qkv.bias.begin() + (p + 1) * d);
  }
  const float usual = 1 / std::sqrt(static_cast<float>(s_.head()));
  if (style_.scale == VitStyle::Scale::other) {  // the scale is 1, and the weights make up for it
    for (float& w : part[0].weight) w *= usual;
    for (float& b : part[0].bias) b *= usual;
  }
  std::string q, k, v;
  const bool tokens_first = style_.batch == VitStyle::Batch::tokens_first;
  if (style_.qkv == Form::apart || tokens_first || style_.scale == VitStyle::Scale::other) {
    q = heads(linear(x, part[0], d, d));
    k = heads(linear(x, part[1], d, d));
    v = heads(linear(x, part[2], d, d));
  } else if (style_.qkv == Form::by_head) {  // rows (head, q|k|v, d) instead of (q|k|v, head, d)
    VitLinear mixed = block.qkv;
    const int h = s_.head();
    for (int p = 0; p < 3; ++p) {
      for (int i = 0; i < d; ++i) {
        const int from = p * d + i, to = i / h * 3 * h + p * h + i % h;
        for (int c = 0; c < d; ++c)
          mixed.weight[static_cast<std::size_t>(to * d + c)] =
              block.qkv.weight[static_cast<std::size_t>(from * d + c)];
        if (!mixed.bias.empty())
          mixed.bias[static_cast<std::size_t>(to)] = block.qkv.bias[static_cast<std::size_t>(from)];
      }
    }
    const std::string all = turned(
        reshape_open(linear(x, mixed, d, 3 * d), {s_.tokens(), s_.heads, 3, h}), {3, 0, 2, 1, 4});
    q = node("Gather", {all, whole(0)});
    k = node("Gather", {all, whole(1)});
    v = node("Gather", {all, whole(2)});
  } else if (style_.qkv == Form::slice) {
    const std::string all = linear(x, block.qkv, d, 3 * d);
    q = heads(node("Slice", {all, wholes({0}), wholes({d}), wholes({2})}));
    k = heads(node("Slice", {all, wholes({d}), wholes({2 * d}), wholes({-1})}));
    v = heads(node("Slice", {all, wholes({2 * d}), wholes({INT64_MAX}), wholes({2}), wholes({1})}));
  } else {
    const std::string all =
        turned(reshape_open(linear(x, block.qkv, d, 3 * d), {s_.tokens(), 3, s_.heads, s_.head()}),
               {2, 0, 3, 1, 4});
    if (style_.qkv == Form::gather) {
      q = node("Gather", {all, whole(0)}, {{"axis", std::int64_t{0}}});
      k = node("Gather", {all, whole(1)}, {{"axis", std::int64_t{0}}});
      v = node("Gather", {all, whole(-1)}, {{"axis", std::int64_t{0}}});
    } else {
      const std::string a = fresh(), b = fresh(), c = fresh();
      out_.node("Split", {all}, {a, b, c}, {{"axis", std::int64_t{0}}});
      q = node("Squeeze", {a, wholes({0})});
      k = node("Squeeze", {b, wholes({0})});
      v = node("Squeeze", {c, wholes({0})});
    }
  }
  k = turned(k, tokens_first ? Dims{0, 2, 1} : Dims{0, 1, 3, 2});
  using Place = VitStyle::Scale;
  if (style_.scale == Place::on_q) q = node("Mul", {q, number(usual)});
  if (style_.scale == Place::on_both) {
    q = node("Mul", {q, number(std::sqrt(usual))});
    k = node("Mul", {k, number(std::sqrt(usual))});
  }
  std::string scores = node("MatMul", {q, k});
  if (style_.scale == Place::on_product) scores = node("Div", {scores, number(1 / usual)});
  if (style_.bias_on_scores) {
    std::vector<float> bias(static_cast<std::size_t>(s_.tokens() * s_.tokens()));
    std::iota(bias.begin(), bias.end(), 0.0f);
    scores = node("Add", {scores, weights({1, 1, s_.tokens(), s_.tokens()}, bias)});
  }
  const std::string shares = nothing(node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}));
  const std::string out = node("MatMul", {shares, v});
  const std::string rows = tokens_first ? reshape(turned(out, {1, 0, 2}), {s_.tokens(), -1, d})
                                        : reshape_open(turned(out, {0, 2, 1, 3}), {s_.tokens(), d});
  return nothing(scaled(linear(rows, block.proj, d, d), block.scale1));
}

}  // namespace engram::test
