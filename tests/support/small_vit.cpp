#include "tests/support/small_vit.h"

#include <random>

namespace engram::test {

VitShape small_shape() {
  return {.image = 8,
          .patch = 4,
          .width = 8,
          .heads = 2,
          .blocks = 2,
          .hidden = 12,
          .prefix = 1,
          .features = 8,
          .epsilon = 1e-6f,
          .gelu = GeluKind::erf};
}

VitModel small_vit(VitShape shape, bool layer_scale, bool input_norm, bool projection,
                   std::uint32_t seed) {
  std::mt19937 draw(seed);
  const auto values = [&](int count, float centre = 0) {
    BufferVector<float> result;
    for (int i = 0; i < count; ++i) {
      result.push_back(centre + (static_cast<float>(draw() % 2001) - 1000) * 4e-4f);
    }
    return result;
  };
  const auto linear = [&](int out, int in) {
    VitLinear layer;
    layer.weight = values(out * in);
    layer.bias = values(out);
    return layer;
  };
  const int d = shape.width;
  const auto norm = [&] { return VitNorm{.weight = values(d, 1), .bias = values(d)}; };
  VitModel model;
  model.shape = shape;
  model.patch = linear(d, 3 * shape.patch * shape.patch);
  model.prefix = values(shape.prefix * d);
  model.positions = values(shape.tokens() * d);
  if (input_norm) model.input_norm = norm();
  for (int i = 0; i < shape.blocks; ++i) {
    VitBlock& block = model.blocks.emplace_back();
    block.norm1 = norm();
    block.qkv = linear(3 * d, d);
    block.proj = linear(d, d);
    block.norm2 = norm();
    block.fc1 = linear(shape.hidden, d);
    block.fc2 = linear(d, shape.hidden);
    if (layer_scale) block.scale1 = values(d, 1), block.scale2 = values(d, 1);
  }
  model.norm = norm();
  if (projection) model.projection = VitLinear{.weight = values(shape.features * d), .bias = {}};
  return model;
}

}  // namespace engram::test
