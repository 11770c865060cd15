// What the operations of a vision transformer do on a GPU. Here b is pictures, each of `tokens` rows that are
// l wide, in `heads` heads; m is the width inside an MLP.
#include <string>

#include "kernels/kernel_work_rows.h"

namespace engram::kernel_work_rows {
namespace {

constexpr double kPrompts = 5;  // of prompt tuning

double rows(const Shape& s) {
  return s.b * s.tokens;
}

// A warp for each row: `moved` rows to or from DRAM, of which it goes over one `passes` times.
KernelWork rows_by_warps(const char* kernel, const Shape& s, double moved, double passes,
                         double multiplied) {
  const double bytes = 4 * moved * rows(s) * s.l;
  return {.kernel = kernel,
          .blocks = up(rows(s), 4),
          .primary = multiplied * up(s.l, 32),
          .bytes = bytes,
          .cached_bytes = bytes + 4 * (passes - 1) * rows(s) * s.l,
          .chain = passes * up(s.l, 128),
          .products = Products::floats,
          .least_bytes = bytes,
          .operations = 8 * rows(s) * s.l};
}

// A thread for each sum of the prompts, picture after picture.
KernelWork sum_tokens(const Shape& s) {
  const double bytes = 8 * (s.b + 1) * kPrompts * s.l;
  return {.kernel = "sum_tokens.sum_tokens",
          .blocks = kPrompts * up(s.l, 256),
          .primary = s.b,  // reads
          .bytes = bytes,
          .cached_bytes = bytes,
          .chain = up(s.b, 4) + 1,
          .least_bytes = bytes};
}

// attention_device.h: a block owns 32 rows of a head, or 16 of a wide one, and meets as many others at a
// time. `products` of tiles, 512 multiply-adds of a thread each; `owned` and `met` matrices are read, the
// latter by each block of a head: these run side by side, and find them in the cache.
KernelWork tiles(const char* kernel, const Shape& s, double products, double owned, double met,
                 double written) {
  const bool is_wide = s.l / s.heads > 64;
  const double blocks = up(s.tokens, is_wide ? 16 : 32), matrix = 4 * rows(s) * s.l;
  return {.kernel = std::string(kernel) + (is_wide ? "<128>" : "<64>"),
          .blocks = s.b * s.heads * blocks,
          .primary = 512 * products * blocks,
          .around = blocks,
          .bytes = (owned + met + written) * matrix,
          .cached_bytes = (owned + met * blocks + written) * matrix,
          .chain = blocks * (is_wide ? 16 : 8),  // a tile is read in so many waves
          .products = Products::floats,
          .least_bytes = (owned + met + written) * matrix,
          .operations = 2 * products * s.b * s.tokens * s.tokens * s.l};
}
KernelWork attention(const Shape& s) {
  return tiles("attention.attention", s, 2, 1, 2, 1);
}
// The blocks that own keys do four products of tiles; those that own queries do three of them.
KernelWork attention_back(const Shape& s) {
  KernelWork work = tiles("attention_back.key", s, 4, 2, 2, 2);
  work.launches = 1.75;
  work.bytes *= 1.75;
  work.cached_bytes *= 1.75;
  work.least_bytes = 4 * rows(s) * s.l * 8;  // qkv, out and dout once, and dqkv
  work.operations *= 5.0 / 4;                // nothing would have to be computed twice
  return work;
}

constexpr Row kRows[] = {
    {"patches", true,
     [](const Shape& s) { return elementwise("patches.patches", rows(s), s.l, 8); }},
    {"embed_tokens", true,
     [](const Shape& s) { return elementwise("embed_tokens.embed_tokens", rows(s), s.l, 8, 2); }},
    {"set_tokens", true,
     [](const Shape& s) { return elementwise("set_tokens.set_tokens", kPrompts * s.b, s.l, 4); }},
    {"sum_tokens", true, sum_tokens},
    {"layer_norm", true,
     [](const Shape& s) { return rows_by_warps("layer_norm.layer_norm", s, 2, 3, 2); }},
    {"layer_norm_back", true,
     [](const Shape& s) { return rows_by_warps("layer_norm_back.layer_norm_back", s, 3, 4, 1); }},
    {"attention", true, attention},
    {"attention_back", true, attention_back},
    {"gelu", true, [](const Shape& s) { return elementwise("gelu.gelu", rows(s), s.m, 8); }},
    {"gelu_back", true,
     [](const Shape& s) { return elementwise("gelu_back.gelu_back", rows(s), s.m, 12, 2); }},
};

}  // namespace

std::span<const Row> transformer_rows() {
  return kRows;
}

}  // namespace engram::kernel_work_rows
