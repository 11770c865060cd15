// Softmax attention, in whatever order its heads are cut out.
#include <cmath>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_heads.h"

namespace engram {

namespace {

class AttentionReader {
 public:
  AttentionReader(VitMatch& match, VitShape& shape) : match_(match), shape_(shape) {}
  Result<AttentionParts> run(int proj);

 private:
  Status take_products(int values);
  Status take_operation(int operation);
  Status take_size(const Dims& dims);
  Result<int> normed(const HeadPart& part);

  VitMatch& match_;
  VitShape& shape_;
  HeadSize size_;
  HeadPart q_, k_, v_;
  double scale_ = 1;
};

// (..., tokens, head) with heads before.
Status AttentionReader::take_size(const Dims& dims) {
  if (dims.size() < 3) return not_plain("its attention has no heads");
  const std::int64_t tokens = dims[dims.size() - 2], head = dims.back();
  const std::int64_t heads = value_count(dims) / std::max<std::int64_t>(tokens * head, 1);
  if (tokens != shape_.tokens()) {
    return not_plain(
        fmt::format("attention looks at {} tokens of {}: windows, or tokens that are "
                    "put together on the way",
                    tokens, shape_.tokens()));
  }
  if (heads * head != shape_.width) {
    return not_plain(
        fmt::format("{} heads of {} do not make the width {}", heads, head, shape_.width));
  }
  size_ = {static_cast<int>(heads), static_cast<int>(tokens), static_cast<int>(head)};
  return {};
}

Status AttentionReader::take_products(int values) {
  const VitStep& second = match_.step(values);
  ENGRAM_TRY(take_size(match_.node(values).dims));
  ENGRAM_ASSIGN(const int weights, match_.same_as(second.input));
  if (weights < 0 || match_.step(weights).kind != VitKind::softmax) {
    return not_plain(fmt::format("attention's weights come from {}, not from a softmax",
                                 match_.what_is(weights)));
  }
  ENGRAM_ASSIGN(const VitPath scores, match_.back(match_.step(weights).input));
  scale_ = scores.scale;
  if (scores.node >= 0 && (match_.step(scores.node).kind == VitKind::shifted ||
                           match_.step(scores.node).kind == VitKind::sum)) {
    return not_plain("attention adds something to its scores: a relative position bias or a mask");
  }
  if (scores.node < 0 || match_.step(scores.node).kind != VitKind::product ||
      !scores.sources.empty() || !scores.channels.empty()) {
    return not_plain(fmt::format("attention's scores come from {}, not from queries and keys",
                                 match_.what_is(scores.node)));
  }
  const VitStep& first = match_.step(scores.node);
  if (value_count(match_.node(scores.node).dims) !=
      std::int64_t{size_.heads} * size_.tokens * size_.tokens) {
    return not_plain("attention's scores are not of every token for every token");
  }
  ENGRAM_ASSIGN(q_, head_part(match_, size_, first.input, false));
  ENGRAM_ASSIGN(k_, head_part(match_, size_, first.other, true));
  ENGRAM_ASSIGN(v_, head_part(match_, size_, second.other, false));
  return {};
}

// A mask that lets everything through: true everywhere, or nothing added.
bool is_empty_mask(const VitOperand& mask) {
  if (mask.node >= 0) return false;
  if (!mask.constant) return true;
  for (std::size_t i = 0; i < mask.constant->size(); ++i) {
    if (mask.constant->at(i) != (mask.constant->whole ? 1 : 0)) return false;
  }
  return true;
}

// Attention in one operation: q, k, v of (1, heads, tokens, head), then a mask.
Status AttentionReader::take_operation(int operation) {
  const VitNode& node = match_.node(operation);
  bool plain = node.inputs.size() >= 3 && node.output == 0 && node.dims.size() == 4 &&
               onnx_attribute(*node.onnx, "is_causal").whole == 0 &&
               onnx_attribute(*node.onnx, "softcap").real == 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool left_out = node.inputs[i].node < 0 && !node.inputs[i].constant;
    plain = plain && (i < 3    ? node.inputs[i].node >= 0
                      : i == 3 ? is_empty_mask(node.inputs[i])
                               : left_out);
  }
  if (!plain) return not_plain("its attention has a mask or is of another kind");
  ENGRAM_TRY(take_size(node.dims));
  const OnnxAttribute scale = onnx_attribute(*node.onnx, "scale");
  scale_ = scale.given ? double(scale.real) : 1 / std::sqrt(double(size_.head));
  ENGRAM_ASSIGN(q_, head_part(match_, size_, node.inputs[0].node, false));
  ENGRAM_ASSIGN(k_, head_part(match_, size_, node.inputs[1].node, false));
  ENGRAM_ASSIGN(v_, head_part(match_, size_, node.inputs[2].node, false));
  return {};
}

Result<int> AttentionReader::normed(const HeadPart& part) {
  return match_.same_as(match_.step(part.linear).input);
}

Result<AttentionParts> AttentionReader::run(int proj) {
  ENGRAM_ASSIGN(const VitPath heads, match_.back(match_.step(proj).input));
  const VitKind kind = heads.node < 0 ? VitKind::other : match_.step(heads.node).kind;
  if (kind == VitKind::product) {
    ENGRAM_TRY(take_products(heads.node));
  } else if (kind == VitKind::attention) {
    ENGRAM_TRY(take_operation(heads.node));
  } else {
    return not_plain(
        fmt::format("a branch ends with a linear layer of {}, which is neither "
                    "attention nor an MLP with GELU",
                    match_.what_is(heads.node)));
  }
  if (!heads.channels.empty()) return not_plain("attention scales its channels behind the heads");
  if (shape_.heads == 0) shape_.heads = size_.heads;
  if (shape_.heads != size_.heads) return not_plain("its blocks have different numbers of heads");
  AttentionParts parts;
  for (const HeadPart* one : {&q_, &k_, &v_}) {
    if (VitMatch::columns_of(match_.step(one->linear)) != shape_.width) {
      return not_plain("queries, keys or values come from something else than the tokens");
    }
    ENGRAM_ASSIGN(const int from, normed(*one));
    if (parts.normed >= 0 && from != parts.normed) {
      return not_plain("queries, keys and values come from different tensors");
    }
    parts.normed = from;
  }
  parts.qkv = joined_heads(match_, size_, q_, k_, v_, scale_);
  ENGRAM_ASSIGN(parts.proj, heads_projection(match_, size_, proj, heads));
  return parts;
}

}  // namespace

Result<AttentionParts> match_attention(VitMatch& match, int proj, VitShape& shape) {
  return AttentionReader(match, shape).run(proj);
}

}  // namespace engram
