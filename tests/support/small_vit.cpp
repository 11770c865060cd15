#include "tests/support/small_vit.h"

#include <cmath>
#include <random>

namespace engram::test {
namespace {

BufferVector<float> random_numbers(std::mt19937& random, int count, float deviation,
                                   float mean = 0) {
  std::normal_distribution<float> normal(mean, deviation);
  BufferVector<float> values(std::size_t(count), 0.0f);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace

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

VitModel small_vit(const VitShape& shape, bool layer_scale, bool input_norm, bool projection,
                   std::uint32_t seed) {
  std::mt19937 random(seed);
  const int d = shape.width;
  const auto weights = [&](int outputs, int inputs) {
    return random_numbers(random, outputs * inputs, 1.0f / std::sqrt(float(inputs)));
  };
  const auto linear = [&](int outputs, int inputs) {
    VitLinear layer{weights(outputs, inputs), {}};
    layer.bias = random_numbers(random, outputs, 0.2f);
    return layer;
  };
  const auto norm = [&] {
    VitNorm layer{random_numbers(random, d, 0.2f, 1), {}};
    layer.bias = random_numbers(random, d, 0.2f);
    return layer;
  };
  VitModel model;
  model.shape = shape;
  model.patch = linear(d, 3 * shape.patch * shape.patch);
  model.prefix = random_numbers(random, shape.prefix * d, 0.5f);
  model.positions = random_numbers(random, shape.tokens() * d, 0.5f);
  if (input_norm) model.input_norm = norm();
  for (int i = 0; i < shape.blocks; ++i) {
    VitBlock& block = model.blocks.emplace_back();
    block.norm1 = norm();
    block.qkv = linear(3 * d, d);
    block.proj = linear(d, d);
    block.norm2 = norm();
    block.fc1 = linear(shape.hidden, d);
    block.fc2 = linear(d, shape.hidden);
    if (layer_scale) block.scale1 = random_numbers(random, d, 0.3f, 0.8f);
    if (layer_scale) block.scale2 = random_numbers(random, d, 0.3f, 0.8f);
  }
  model.norm = norm();
  if (projection) model.projection = VitLinear{weights(shape.features, d), {}};
  return model;
}

VitModel small_vit(VitKind kind, int blocks, std::uint32_t seed) {
  const bool is_clip = kind == VitKind::clip, has_scale = kind == VitKind::layer_scale;
  VitShape shape = small_shape();
  shape.blocks = blocks;
  if (has_scale) shape.prefix = 2;
  if (is_clip) shape.features = 5;
  if (is_clip) shape.gelu = GeluKind::quick;
  VitModel model = small_vit(shape, has_scale, is_clip, is_clip, seed);
  if (is_clip) model.patch.bias.clear();
  return model;
}

AdaptSettings small_settings(AdaptMethod method) {
  AdaptSettings settings;
  settings.method = method;
  settings.rank = 3;
  settings.prompts = 2;
  settings.dropout = 0;
  settings.head_start = HeadStart::random;
  return settings;
}

AdaptParameters random_parameters(const VitShape& shape, const AdaptSettings& settings, int classes,
                                  std::uint32_t seed) {
  std::mt19937 random(seed);
  AdaptParameters parameters = AdaptParameters::start(shape, settings, classes);
  std::normal_distribution<float> normal(0, 0.3f);
  for (const AdaptSlice& slice : parameters.slices) {
    const MatrixView<float> view = parameters.slice(slice.name);
    for (int i = 0; i < view.rows * view.cols; ++i) view.data[i] += normal(random);
  }
  return parameters;
}

std::vector<float> random_pictures(const VitShape& shape, int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto values = random_numbers(random, count * 3 * shape.image * shape.image, 1);
  return {values.begin(), values.end()};
}

}  // namespace engram::test
