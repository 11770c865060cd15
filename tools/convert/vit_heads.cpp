#include "tools/convert/vit_heads.h"

#include <cmath>

#include <fmt/format.h>

namespace engram {

// Each value (head, token, i), or (head, i, token) if turned, must come from the same token's row.
Result<HeadPart> head_part(VitMatch& match, const HeadSize& size, int tensor, bool turned) {
  ENGRAM_ASSIGN(const VitPath path, match.back(tensor));
  if (path.node < 0 || match.step(path.node).kind != VitKind::linear || !path.channels.empty()) {
    return not_plain(fmt::format("queries, keys or values come from {}, not from a linear layer",
                                 match.what_is(path.node)));
  }
  const std::int64_t width = VitMatch::rows_of(match.step(path.node));
  const std::int64_t count = value_count(match.node(tensor).dims);
  const bool rows_fit = width > 0 && value_count(match.node(path.node).dims) == width * size.tokens;
  if (count != std::int64_t{size.width()} * size.tokens || !rows_fit) {
    return not_plain("queries, keys and values are not of one size");
  }
  ENGRAM_TRY(match.spend(count));
  HeadPart part{.linear = path.node, .channels = {}, .scale = path.scale};
  part.channels.resize(static_cast<std::size_t>(size.width()));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t source =
        path.sources.empty() ? i : path.sources[static_cast<std::size_t>(i)];
    const std::int64_t h = i / (size.tokens * size.head), rest = i % (size.tokens * size.head);
    const std::int64_t t = turned ? rest % size.tokens : rest / size.head;
    const std::int64_t d = turned ? rest / size.tokens : rest % size.head;
    auto& channel = part.channels[static_cast<std::size_t>(h * size.head + d)];
    if (t == 0) channel = static_cast<std::int32_t>(source % width);
    if (source / width != t || source % width != channel) {
      return not_plain("attention mixes tokens and channels in its heads");
    }
  }
  return part;
}

VitLinear joined_heads(const VitMatch& match, const HeadSize& size, const HeadPart& q,
                       const HeadPart& k, const HeadPart& v, double scale) {
  double ratio = scale * q.scale * k.scale * std::sqrt(double(size.head));
  if (std::fabs(ratio - 1) < 1e-6) ratio = 1;
  VitLinear qkv;
  const bool biased = !match.step(q.linear).bias.empty() || !match.step(k.linear).bias.empty() ||
                      !match.step(v.linear).bias.empty();
  for (const HeadPart* part : {&q, &k, &v}) {
    const VitStep& linear = match.step(part->linear);
    const auto factor = static_cast<float>(part == &q ? ratio : part == &v ? v.scale : 1);
    for (const std::int32_t channel : part->channels) {
      for (std::int64_t i = 0; i < size.width(); ++i) {
        qkv.weight.push_back(factor * match.weight(linear, channel, i));
      }
      const bool has = !linear.bias.empty();
      if (biased) {
        qkv.bias.push_back(has ? factor * linear.bias[static_cast<std::size_t>(channel)] : 0);
      }
    }
  }
  return qkv;
}

// Its columns, in the order in which heads lie side by side.
Result<VitLinear> heads_projection(VitMatch& match, const HeadSize& size, int proj,
                                   const VitPath& heads) {
  const VitLinear plain = match.linear(proj);
  const std::int64_t values = value_count(match.node(match.step(proj).input).dims);
  if (values != std::int64_t{size.width()} * size.tokens ||
      VitMatch::columns_of(match.step(proj)) != size.width() ||
      VitMatch::rows_of(match.step(proj)) != size.width()) {
    return not_plain("attention's last linear layer is not as wide as the tokens");
  }
  VitLinear result{.weight = BufferVector<float>(plain.weight.size()), .bias = plain.bias};
  const std::int64_t width = size.width();
  for (std::int64_t i = 0; i < width * size.tokens; ++i) {
    const std::int64_t source =
        heads.sources.empty() ? i : heads.sources[static_cast<std::size_t>(i)];
    const std::int64_t h = source / (size.tokens * size.head);
    const std::int64_t t = source / size.head % size.tokens, d = source % size.head;
    const std::int64_t column = i % width, place = h * size.head + d;
    if (t != i / width) return not_plain("attention mixes its tokens behind the heads");
    if (t == 0) {
      for (std::int64_t row = 0; row < width; ++row) {
        result.weight[static_cast<std::size_t>(row * width + place)] =
            static_cast<float>(heads.scale) *
            plain.weight[static_cast<std::size_t>(row * width + column)];
      }
    }
  }
  return result;
}

}  // namespace engram
