// A plain Vision Transformer as weights of our own: what Phase 1 trains beside and what is written
// back as ONNX (tools/convert/vit_read.h, vit_write.h).
//
//     e    = patch(pixels)                                 (patches, D)
//     x    = [prefix; e] + positions                       (T, D), then input_norm if there is one
//     x    = x + scale1 * proj(attention(qkv(norm1(x))))   for each block
//     x    = x + scale2 * fc2(gelu(fc1(norm2(x))))
//     f    = projection(norm(x)[0])                        (L): the class token; projection optional
//
//   name        shape                    meaning
//   patch       (D, 3*p*p)               weights of the patch convolution, channel-major in a row
//   prefix      (C, D)                   class token first, then register tokens
//   positions   (C + patches, D)         added to prefix and patches, which run row by row
//   qkv         (3D, D)                  q | k | v, heads side by side
//   fc1, fc2    (F, D), (D, F)
//   projection  (L, D)
//
// All row-major; a linear layer is y = x wT + b. Attention is softmax(q kT / sqrt(D/H)) v: a model
// with another scale has the ratio folded into the rows of q.
#pragma once

#include <optional>
#include <vector>

#include "kernels/gelu.h"
#include "platform/buffer_allocator.h"

namespace engram {

struct VitShape {
  int image = 224;  // side of the square picture
  int patch = 16;   // side of a patch
  int width = 768;  // D
  int heads = 12;   // H
  int blocks = 12;
  int hidden = 3072;   // F, of the MLP
  int prefix = 1;      // C, tokens before the patches
  int features = 768;  // L
  float epsilon = 1e-6f;
  GeluKind gelu = GeluKind::erf;

  int side() const { return image / patch; }
  int patches() const { return side() * side(); }
  int tokens() const { return prefix + patches(); }
  int head() const { return width / heads; }
};

struct VitLinear {
  BufferVector<float> weight;  // (O, I)
  BufferVector<float> bias;    // (O), may be empty
};

struct VitNorm {
  BufferVector<float> weight, bias;  // (D)
};

struct VitBlock {
  VitNorm norm1;
  VitLinear qkv, proj;
  BufferVector<float> scale1;  // LayerScale (D), may be empty
  VitNorm norm2;
  VitLinear fc1, fc2;
  BufferVector<float> scale2;  // LayerScale (D), may be empty
};

struct VitModel {
  VitShape shape;
  VitLinear patch;                    // (D, 3*p*p)
  BufferVector<float> prefix;         // (C, D)
  BufferVector<float> positions;      // (tokens, D)
  std::optional<VitNorm> input_norm;  // CLIP's ln_pre
  std::vector<VitBlock> blocks;
  VitNorm norm;                         // the final one
  std::optional<VitLinear> projection;  // CLIP's visual projection (L, D)
};

}  // namespace engram
