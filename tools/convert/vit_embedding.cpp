// The picture as tokens: patches through a linear map, tokens before them, positions.
#include <algorithm>

#include <fmt/format.h>

#include "platform/onnx_attribute.h"
#include "tools/convert/vit_match.h"
#include "tools/convert/vit_moves.h"

namespace engram {

namespace {

// A tensor on its way from the patches to the tokens. Each value is a value of the patches or a
// constant that was put beside them, and something added.
struct Tokens {
  std::vector<std::int32_t> patch;  // which value of the patches; -1: the constant
  std::vector<float> constant, added;

  void push(std::int32_t source, float value, float shift) {
    patch.push_back(source);
    constant.push_back(value);
    added.push_back(shift);
  }
};

class Embedding {
 public:
  Embedding(VitMatch& match, VitModel& model) : match_(match), model_(model) {}
  Status run(int tokens);

 private:
  Status take_patches(int convolution);
  Status forward(int number);
  Status move(int number);
  Status join(int number);
  Status shift(int number);
  Status split(int tokens);

  VitMatch& match_;
  VitModel& model_;
  Tokens now_;
};

Status Embedding::take_patches(int convolution) {
  const VitNode& node = match_.node(convolution);
  const VitStep& step = match_.step(convolution);
  const Dims& w = step.matrix->dims;
  const OnnxAttribute strides = onnx_attribute(*node.onnx, "strides");
  const OnnxAttribute group = onnx_attribute(*node.onnx, "group");
  const std::int64_t p = w.size() == 4 ? w[2] : 0;
  const bool plain = w.size() == 4 && !step.matrix->whole && w[1] == 3 && w[3] == p && p > 0 &&
                     (!group.given || group.whole == 1) && strides.wholes == Dims{p, p} &&
                     (step.bias.empty() || std::ssize(step.bias) == w[0]);
  if (!plain) {
    return not_plain(
        fmt::format("its first convolution ({}) does not cut the picture into patches "
                    "side by side: a hybrid or a convolutional network",
                    shape_text(w)));
  }
  VitShape& shape = model_.shape;
  if (shape.image % p != 0) {
    return not_plain(fmt::format("patches of {} pixels do not fill {}", p, shape.image));
  }
  shape.patch = static_cast<int>(p);
  shape.width = static_cast<int>(w[0]);
  model_.patch = {.weight = buffer(step.matrix->reals), .bias = buffer(step.bias)};
  for (std::int64_t i = 0; i < value_count(node.dims); ++i) {
    now_.push(static_cast<std::int32_t>(i), 0, 0);
  }
  return {};
}

Status Embedding::move(int number) {
  const VitNode& node = match_.node(number);
  MoveConstants constants;
  for (const VitOperand& input : node.inputs) constants.push_back(input.constant.get());
  ENGRAM_ASSIGN(
      const Movement moved,
      movement(*node.onnx, constants, match_.node(match_.step(number).input).dims, node.output));
  if (moved.flat) return {};
  const Tokens before = std::move(now_);
  now_ = {};
  for (const std::int32_t source : moved.sources()) {
    const auto at = static_cast<std::size_t>(source);
    now_.push(before.patch[at], before.constant[at], before.added[at]);
  }
  return {};
}

// Constants and the one tensor of patches, along the axis of tokens: all other axes before it are 1.
Status Embedding::join(int number) {
  const VitNode& node = match_.node(number);
  const int axis = normal_axis(onnx_attribute(*node.onnx, "axis").whole, node.dims.size());
  for (int i = 0; i < axis; ++i) {
    if (node.dims[static_cast<std::size_t>(i)] != 1)
      return not_plain("tokens are joined by channels");
  }
  Tokens joined;
  int tensors = 0;
  for (const VitOperand& input : node.inputs) {
    if (input.node < 0 && input.constant && !input.constant->whole) {
      for (const float value : input.constant->reals) joined.push(-1, value, 0);
      continue;
    }
    if (++tensors > 1 || input.node < 0) return not_plain("several tensors are joined into tokens");
    for (std::size_t i = 0; i < now_.patch.size(); ++i) {
      joined.push(now_.patch[i], now_.constant[i], now_.added[i]);
    }
  }
  now_ = std::move(joined);
  return {};
}

Status Embedding::shift(int number) {
  const VitStep& step = match_.step(number);
  const Dims& dims = match_.node(number).dims;
  if (step.kind == VitKind::affine) {  // the same for all tokens
    const bool scaled =
        std::any_of(step.weight.begin(), step.weight.end(), [](float w) { return w != 1; });
    if (scaled) return not_plain("its patches are scaled before the first block");
    for (std::size_t i = 0; i < now_.added.size(); ++i)
      now_.added[i] += step.bias[i % step.bias.size()];
    return {};
  }
  // Positions, perhaps the same for several channels.
  Dims from = step.matrix->dims;
  from.insert(from.begin(), dims.size() - std::min(dims.size(), from.size()), 1);
  for (std::size_t i = 0; i < now_.added.size(); ++i) {
    std::size_t place = 0, rest = i, stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      const std::size_t size = static_cast<std::size_t>(dims[axis]), c = rest % size;
      rest /= size;
      if (from[axis] != 1) place += c * stride;
      stride *= static_cast<std::size_t>(from[axis]);
    }
    now_.added[i] += step.matrix->reals[place];
  }
  return {};
}

Status Embedding::forward(int number) {
  switch (match_.step(number).kind) {
    case VitKind::move:
      return move(number);
    case VitKind::join:
      return join(number);
    default:
      return shift(number);
  }
}

// Rows of constants first, then the patches row by row.
Status Embedding::split(int tokens) {
  VitShape& shape = model_.shape;
  const auto width = static_cast<std::size_t>(shape.width);
  const std::size_t patches = static_cast<std::size_t>(shape.patches());
  if (now_.patch.size() % width != 0 || now_.patch.size() / width < patches ||
      match_.node(tokens).dims.back() != shape.width) {
    return not_plain(fmt::format("its tokens are {}", match_.what_is(tokens)));
  }
  const std::size_t prefix = now_.patch.size() / width - patches;
  for (std::size_t i = 0; i < now_.patch.size(); ++i) {
    const std::size_t token = i / width, channel = i % width;
    const std::size_t expected = channel * patches + (token - prefix);  // (D, patches)
    const bool right =
        token < prefix ? now_.patch[i] < 0 : now_.patch[i] == static_cast<std::int32_t>(expected);
    if (!right) return not_plain("its tokens are not a prefix and the patches row by row");
  }
  if (prefix == 0) {
    return not_plain("it has no class token: its features are a mean over patches, or the like");
  }
  shape.prefix = static_cast<int>(prefix);
  model_.prefix.assign(now_.constant.begin(),
                       now_.constant.begin() + static_cast<std::ptrdiff_t>(prefix * width));
  model_.positions = buffer(now_.added);
  return {};
}

Status Embedding::run(int tokens) {
  std::vector<int> way;
  int at = tokens;
  for (; at > 0 && match_.step(at).kind != VitKind::patches; at = match_.step(at).input) {
    const VitKind kind = match_.step(at).kind;
    if (kind == VitKind::sum) {
      return not_plain(
          "a branch is added before the first layer norm: it normalises behind its "
          "sums, not before its branches");
    }
    if (kind != VitKind::move && kind != VitKind::join && kind != VitKind::shifted &&
        kind != VitKind::affine) {
      return not_plain(
          fmt::format("{} stands between the patches and the first block", match_.what_is(at)));
    }
    way.push_back(at);
  }
  if (at <= 0) return not_plain("its patches are not made by a convolution of the picture");
  ENGRAM_TRY(take_patches(at));
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    ENGRAM_TRY(match_.spend(value_count(match_.node(*step).dims)));
    ENGRAM_TRY(forward(*step));
  }
  return split(tokens);
}

}  // namespace

Status match_embedding(VitMatch& match, int tokens, VitModel& model) {
  return Embedding(match, model).run(tokens);
}

}  // namespace engram
