// A Vision Transformer of a few numbers, and made-up pictures for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/adapt_parameters.h"
#include "engine/vit_model.h"

namespace engram::test {

enum class TinyVit : std::uint8_t {
  plain,        // as DeiT
  layer_scale,  // as DINOv2, with a register token
  clip,         // with input norm, projection, quick gelu, and linears without bias
};

inline BufferVector<float> random_numbers(std::mt19937& random, int count, float deviation,
                                          float mean = 0) {
  std::normal_distribution<float> normal(mean, deviation);
  BufferVector<float> values(std::size_t(count), 0.0f);
  for (float& value : values) value = normal(random);
  return values;
}

inline VitModel tiny_vit(TinyVit kind, int blocks = 3, unsigned seed = 1) {
  std::mt19937 random(seed);
  VitModel model;
  VitShape& shape = model.shape;
  shape = {.image = 8, .patch = 4, .width = 8, .heads = 2, .blocks = blocks, .hidden = 12};
  shape.prefix = kind == TinyVit::layer_scale ? 2 : 1;
  shape.features = kind == TinyVit::clip ? 5 : shape.width;
  shape.gelu = kind == TinyVit::clip ? GeluKind::quick : GeluKind::erf;
  const int d = shape.width;
  const auto linear = [&](int outputs, int inputs, bool has_bias) {
    const float deviation = 1.0f / std::sqrt(float(inputs));
    VitLinear layer{random_numbers(random, outputs * inputs, deviation), {}};
    if (has_bias) layer.bias = random_numbers(random, outputs, 0.2f);
    return layer;
  };
  const auto norm = [&] {
    return VitNorm{random_numbers(random, d, 0.2f, 1), random_numbers(random, d, 0.2f)};
  };
  const bool has_scale = kind == TinyVit::layer_scale;
  model.patch = linear(d, 3 * shape.patch * shape.patch, kind != TinyVit::clip);
  model.prefix = random_numbers(random, shape.prefix * d, 0.5f);
  model.positions = random_numbers(random, shape.tokens() * d, 0.5f);
  if (kind == TinyVit::clip) model.input_norm = norm();
  for (int i = 0; i < blocks; ++i) {
    VitBlock block;
    block.norm1 = norm();
    block.qkv = linear(3 * d, d, true);
    block.proj = linear(d, d, true);
    block.norm2 = norm();
    block.fc1 = linear(shape.hidden, d, true);
    block.fc2 = linear(d, shape.hidden, true);
    if (has_scale) block.scale1 = random_numbers(random, d, 0.3f, 0.8f);
    if (has_scale) block.scale2 = random_numbers(random, d, 0.3f, 0.8f);
    model.blocks.push_back(std::move(block));
  }
  model.norm = norm();
  if (kind == TinyVit::clip) model.projection = linear(shape.features, d, false);
  return model;
}

// Parameters where nothing is zero that trains, so that every gradient is.
inline AdaptParameters random_parameters(const VitShape& shape, const AdaptSettings& settings,
                                         int classes, unsigned seed = 7) {
  std::mt19937 random(seed);
  AdaptParameters parameters = AdaptParameters::start(shape, settings, classes);
  std::normal_distribution<float> normal(0, 0.3f);
  for (const AdaptSlice& slice : parameters.slices) {
    const MatrixView<float> view = parameters.slice(slice.name);
    for (int i = 0; i < view.rows * view.cols; ++i) view.data[i] += normal(random);
  }
  return parameters;
}

// (count, 3 image^2)
inline std::vector<float> random_pictures(const VitShape& shape, int count, unsigned seed = 3) {
  std::mt19937 random(seed);
  const auto values = random_numbers(random, count * 3 * shape.image * shape.image, 1);
  return {values.begin(), values.end()};
}

inline AdaptSettings tiny_settings(AdaptMethod method) {
  AdaptSettings settings;
  settings.method = method;
  settings.rank = 3;
  settings.prompts = 2;
  settings.dropout = 0;
  return settings;
}

}  // namespace engram::test
