// Queries, keys and values by heads, and the projection behind them, from whatever order a graph has
// them in. Private to vit_attention.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/convert/vit_match.h"

namespace engram {

struct HeadSize {
  int heads = 0, tokens = 0, head = 0;
  int width() const { return heads * head; }
};

// q, k or v: rows of a linear step, by heads.
struct HeadPart {
  int linear = -1;
  std::vector<std::int32_t> channels;  // (heads * head): the linear step's output of each
  double scale = 1;
};

// The tensor (heads, tokens, head), or (heads, head, tokens) if turned, as rows of a linear step.
Result<HeadPart> head_part(VitMatch& match, const HeadSize& size, int tensor, bool turned);
// q | k | v, heads side by side. A scale that is not 1/sqrt(head) goes into q's rows.
VitLinear joined_heads(const VitMatch& match, const HeadSize& size, const HeadPart& q,
                       const HeadPart& k, const HeadPart& v, double scale);
// The linear step `proj` of heads that lie side by side; `heads`: how its input comes from them.
Result<VitLinear> heads_projection(VitMatch& match, const HeadSize& size, int proj,
                                   const VitPath& heads);

}  // namespace engram
