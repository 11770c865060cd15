// The blocks of a Vision Transformer: sums around attention and MLP in turn.
#include <fmt/format.h>

#include "tools/convert/vit_match.h"

namespace engram {

namespace {

class Blocks {
 public:
  Blocks(VitMatch& match, VitModel& model) : match_(match), model_(model) {}
  Status run(int& tokens);

 private:
  Status input_norm(int& tokens);
  Result<bool> next_sum(int tokens, int& sum, int& branch);
  Status branch(int tokens, int last);
  Status attention(int tokens, int proj);
  Status mlp(int tokens, int fc2, int gelu);
  Status same_tokens(int normed, int tokens);

  VitMatch& match_;
  VitModel& model_;
  BufferVector<float> scale_;  // LayerScale of the branch being read
  bool half_block_ = false;    // attention was read, its MLP not yet
};

// A norm whose result is the tokens of the first block, as in CLIP.
Status Blocks::input_norm(int& tokens) {
  int sum = 0;
  for (sum = tokens + 1; sum < match_.size() && match_.step(sum).kind != VitKind::sum;) ++sum;
  if (sum == match_.size()) return not_plain("it has no sums around branches");
  for (const int side : {match_.step(sum).input, match_.step(sum).other}) {
    ENGRAM_ASSIGN(const int from, match_.same_as(side));
    if (from < 0 || match_.step(from).kind != VitKind::norm) continue;
    ENGRAM_ASSIGN(const int before, match_.same_as(match_.step(from).input));
    if (before != tokens) continue;
    ENGRAM_ASSIGN(model_.input_norm, norm_of(match_.step(from), model_.shape));
    tokens = from;
    return {};
  }
  return {};
}

// The sum that adds a branch to `tokens`; false: none, the blocks are over.
Result<bool> Blocks::next_sum(int tokens, int& sum, int& branch) {
  for (sum = tokens + 1; sum < match_.size(); ++sum) {
    const VitStep& step = match_.step(sum);
    if (step.kind != VitKind::sum) continue;
    ENGRAM_ASSIGN(const int one, match_.same_as(step.input));
    ENGRAM_ASSIGN(const int other, match_.same_as(step.other));
    if (one != tokens && other != tokens) {
      return not_plain("a sum leaves out the block before it: its branches are not in a row");
    }
    branch = one == tokens ? step.other : step.input;
    return true;
  }
  return false;
}

// The norm that a branch begins with must read the tokens.
Status Blocks::same_tokens(int normed, int tokens) {
  if (normed < 0 || match_.step(normed).kind != VitKind::norm) {
    return not_plain(
        fmt::format("a branch begins with {}, not with a layer norm (as in models "
                    "that normalise after the sum)",
                    match_.what_is(normed)));
  }
  ENGRAM_ASSIGN(const int from, match_.same_as(match_.step(normed).input));
  return from == tokens ? Status() : not_plain("a branch does not begin at the sum before it");
}

Status Blocks::attention(int tokens, int proj) {
  ENGRAM_ASSIGN(AttentionParts parts, match_attention(match_, proj, model_.shape));
  if (half_block_) return not_plain("two attentions follow each other without an MLP between");
  ENGRAM_TRY(same_tokens(parts.normed, tokens));
  VitBlock& block = model_.blocks.emplace_back();
  ENGRAM_ASSIGN(block.norm1, norm_of(match_.step(parts.normed), model_.shape));
  block.qkv = std::move(parts.qkv);
  block.proj = std::move(parts.proj);
  block.scale1 = std::move(scale_);
  half_block_ = true;
  return {};
}

Status Blocks::mlp(int tokens, int fc2, int gelu) {
  if (!half_block_) return not_plain("an MLP comes without attention before it");
  VitShape& shape = model_.shape;
  ENGRAM_ASSIGN(const int fc1, match_.same_as(match_.step(gelu).input));
  if (fc1 < 0 || match_.step(fc1).kind != VitKind::linear) {
    return not_plain(fmt::format("an MLP bends {}, not a linear layer", match_.what_is(fc1)));
  }
  const std::int64_t hidden = VitMatch::rows_of(match_.step(fc1));
  if (shape.hidden == 0) {
    shape.hidden = static_cast<int>(hidden);
    shape.gelu = match_.step(gelu).gelu;
  }
  if (hidden != shape.hidden || VitMatch::columns_of(match_.step(fc2)) != hidden ||
      VitMatch::columns_of(match_.step(fc1)) != shape.width ||
      VitMatch::rows_of(match_.step(fc2)) != shape.width || match_.step(gelu).gelu != shape.gelu) {
    return not_plain("its MLPs are not all alike");
  }
  ENGRAM_ASSIGN(const int normed, match_.same_as(match_.step(fc1).input));
  ENGRAM_TRY(same_tokens(normed, tokens));
  VitBlock& block = model_.blocks.back();
  ENGRAM_ASSIGN(block.norm2, norm_of(match_.step(normed), shape));
  block.fc1 = match_.linear(fc1);
  block.fc2 = match_.linear(fc2);
  block.scale2 = std::move(scale_);
  half_block_ = false;
  return {};
}

Status Blocks::branch(int tokens, int last) {
  ENGRAM_ASSIGN(VitPath path, match_.back(last));
  if (path.node < 0 || match_.step(path.node).kind != VitKind::linear || !path.sources.empty()) {
    return not_plain(
        fmt::format("a branch ends with {}, not with a linear layer", match_.what_is(path.node)));
  }
  scale_ = buffer(path.channels);
  if (scale_.empty() && path.scale != 1)
    scale_.assign(static_cast<std::size_t>(model_.shape.width), 1);
  for (float& scale : scale_) scale *= static_cast<float>(path.scale);
  if (!scale_.empty() && std::ssize(scale_) != model_.shape.width) {
    return not_plain("a branch is scaled by something that is not as wide as the tokens");
  }
  ENGRAM_ASSIGN(const int from, match_.same_as(match_.step(path.node).input));
  if (from >= 0 && match_.step(from).kind == VitKind::gelu) return mlp(tokens, path.node, from);
  return attention(tokens, path.node);
}

Status Blocks::run(int& tokens) {
  ENGRAM_TRY(input_norm(tokens));
  for (int sum = 0, last = 0;;) {
    ENGRAM_ASSIGN(const bool more, next_sum(tokens, sum, last));
    if (!more) break;
    ENGRAM_TRY(branch(tokens, last));
    tokens = sum;
  }
  if (model_.blocks.empty() || half_block_) return not_plain("its last block has no MLP");
  model_.shape.blocks = static_cast<int>(model_.blocks.size());
  return {};
}

}  // namespace

Status match_blocks(VitMatch& match, int& tokens, VitModel& model) {
  return Blocks(match, model).run(tokens);
}

}  // namespace engram
